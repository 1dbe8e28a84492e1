// Lines of a text file, plain or gzip-compressed, that is there whole or not at all.
#pragma once

#include <stein/core/atomic_file.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace stein {

/// Writes lines to a file, compressed by gzip if its name ends in ".gz"; nothing appears at its place before `commit`.
class LineWriter {
 public:
  /// @throws Error(io) naming the path and the reason
  explicit LineWriter(const std::filesystem::path& path);
  ~LineWriter();

  /// Appends `line` and a newline. @throws Error(io), for instance when the disk is full
  void write(std::string_view line);
  /// Once, after the last line. @throws Error(io)
  void commit();

 private:
  class Compressor;

  /// Hands the buffer on; `last` ends a compressed text.
  void flush(bool last);

  AtomicFile file_;
  std::unique_ptr<Compressor> compressor_;  ///< null: plain text
  std::string buffer_;
};

}  // namespace stein
