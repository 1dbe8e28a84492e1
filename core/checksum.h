// Checksums of buffers and files: SHA-256 (OpenSSL), CRC-32C (Castagnoli, as TensorBoard frames its records).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stein {

/// SHA-256 of bytes that arrive in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::span<const std::byte> bytes);
  /// The digest as 64 lower-case hexadecimal digits; nothing may follow.
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);

/// SHA-256 of the content of `path`. @throws Error(data) if it does not exist, Error(io) if it cannot be read
std::string sha256_file(const std::filesystem::path& path);

/// CRC-32C (RFC 3720, appendix B.4) of `bytes`.
std::uint32_t crc32c(std::span<const std::byte> bytes);
std::uint32_t crc32c(std::string_view text);

}  // namespace stein
