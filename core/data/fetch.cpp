#include <stein/core/data/fetch.h>

#include <curl/curl.h>
#include <zlib.h>

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/core/error.h>
#include <stein/core/version.h>

namespace stein {
namespace {

namespace fs = std::filesystem;
using Connection = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

Connection open_connection() {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  Connection connection(initialised == CURLE_OK ? curl_easy_init() : nullptr, &curl_easy_cleanup);
  if (!connection) fail(ErrorKind::io, "the download library cannot be started");
  return connection;
}

/// Decompresses a gzip file as its bytes arrive.
class Gunzip {
 public:
  Gunzip() {
    constexpr int gzip_only = 15 + 16;  // the largest window; neither zlib nor raw streams
    if (::inflateInit2(&stream_, gzip_only) != Z_OK) fail(ErrorKind::io, "no memory to decompress a file");
  }
  ~Gunzip() { ::inflateEnd(&stream_); }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  /// Calls take(bytes) with what these bytes stand for; whether they could be read.
  bool feed(std::span<const std::byte> bytes, const auto& take) {
    // zlib does not write there: its interface is older than const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    std::array<std::byte, 16384> text{};
    do {
      if (ended_) return stream_.avail_in == 0;
      stream_.next_out = reinterpret_cast<Bytef*>(text.data());
      stream_.avail_out = static_cast<uInt>(text.size());
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return false;
      ended_ = result == Z_STREAM_END;
      take(std::span(text).first(text.size() - stream_.avail_out));
    } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    return true;
  }

 private:
  z_stream stream_{};
  bool ended_ = false;
};

/// Takes what arrives; from an address that ends in .gz, decompressed. Exceptions must not pass through the C library,
/// so the first one waits here.
struct Download {
  const DataFile& file;
  Progress& progress;
  AtomicFile target;
  std::optional<Gunzip> gzip{};
  Sha256 hash{};
  std::uint64_t received = 0;
  std::exception_ptr failure{};

  void arrive(std::span<const std::byte> bytes) {
    if (!gzip) return take(bytes);
    if (!gzip->feed(bytes, [this](std::span<const std::byte> text) { take(text); }))
      fail(ErrorKind::data, "'{}' is damaged: its gzip stream breaks after {} bytes of text", file.url, received);
  }
  void take(std::span<const std::byte> bytes) {
    received += bytes.size();
    if (received > file.bytes) {
      fail(ErrorKind::data, "'{}' is not the expected file: expected {} bytes, more arrive", file.url, file.bytes);
    }
    hash.update(bytes);
    target.write(bytes);
    progress.advance(bytes.size());
  }
};

std::size_t on_bytes(char* data, std::size_t size, std::size_t count, void* user) {
  auto& download = *static_cast<Download*>(user);
  try {
    download.arrive(std::as_bytes(std::span(data, size * count)));
    return size * count;
  } catch (...) {
    download.failure = std::current_exception();
    return 0;
  }
}

void transfer(Download& download) {
  const Connection connection = open_connection();
  std::array<char, CURL_ERROR_SIZE> reason{};
  const std::string agent = fmt::format("stein/{}", version());
  CURL* curl = connection.get();
  curl_easy_setopt(curl, CURLOPT_URL, download.file.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http,file");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "https,http");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);  // [bytes/s] for LOW_SPEED_TIME seconds: the server is gone
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 60L);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, agent.c_str());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason.data());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &on_bytes);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &download);
  const CURLcode result = curl_easy_perform(curl);
  if (download.failure) std::rethrow_exception(download.failure);
  if (result != CURLE_OK) {
    fail(ErrorKind::io, "cannot fetch '{}': {}", download.file.url,
         reason[0] != '\0' ? reason.data() : curl_easy_strerror(result));
  }
}

bool is_intact(const DataFile& file, const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) == file.bytes &&
         (file.sha256.empty() || sha256_file(path) == file.sha256);
}

}  // namespace

void fetch_file(const DataFile& file, const fs::path& path, Progress& progress) {
  STEIN_CHECK(!file.url.empty(), "'{}' may not be had from a fixed address: get it by hand and put it at '{}'",
              file.name, path.string());
  Download download{.file = file, .progress = progress, .target = AtomicFile(path)};
  if (file.url.ends_with(".gz")) download.gzip.emplace();
  progress.begin(file.name, "bytes", file.bytes);
  transfer(download);
  if (download.received != file.bytes) {
    fail(ErrorKind::data, "'{}' is not the expected file: expected {} bytes, found {}", file.url, file.bytes,
         download.received);
  }
  const std::string sum = download.hash.finish();
  if (!file.sha256.empty() && sum != file.sha256) {
    fail(ErrorKind::data, "'{}' is not the expected file: expected SHA-256 {}, found {}", file.url, file.sha256, sum);
  }
  download.target.commit();
  progress.finish();
}

fs::path fetch_data_set(const DataSet& set, const fs::path& folder, Progress& progress) {
  const fs::path place = folder / set.name;
  std::error_code error;
  fs::create_directories(place, error);
  if (error) fail(ErrorKind::io, "cannot make the directory '{}': {}", place.string(), error.message());
  for (const DataFile& file : set.files) {
    if (!is_intact(file, place / file.name)) fetch_file(file, place / file.name, progress);
  }
  return place;
}

}  // namespace stein
