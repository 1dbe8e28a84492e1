// A log in R6A's format in a temporary file, and how fast it can be read.
#pragma once

#include <cstdint>
#include <filesystem>

namespace stein::bench {

/// Lines of SyntheticNews, gzip-compressed and plain, in a folder that goes with the object.
class NewsFile {
 public:
  /// @param lifetime  of an article, in events: 20 gives every line a new one
  NewsFile(std::int64_t events, std::int64_t lifetime);
  ~NewsFile();
  NewsFile(const NewsFile&) = delete;
  NewsFile& operator=(const NewsFile&) = delete;

  std::filesystem::path compressed() const { return folder_ / "news.gz"; }
  std::filesystem::path plain() const { return folder_ / "news"; }
  /// Of the text.
  std::int64_t bytes() const { return bytes_; }

 private:
  std::filesystem::path folder_;
  std::int64_t bytes_ = 0;
};

/// Reads all events of a file, of which there are so many. Throws Error(numeric) if there are more or fewer.
void read_events(const std::filesystem::path& file, std::int64_t events);

/// Decompresses a file in blocks of `block` bytes and looks at nothing. Throws Error(io) unless there are `bytes`.
void decompress(const std::filesystem::path& file, std::int64_t bytes, std::int64_t block);

}  // namespace stein::bench
