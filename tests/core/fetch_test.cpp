#include <arpa/inet.h>
#include <netinet/in.h>
#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/core/data/fetch.h>
#include <stein/core/read_file.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <thread>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

/// Answers one request on the loopback address with `response`, then hangs up.
class OneAnswerServer {
 public:
  explicit OneAnswerServer(std::string response) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(listener_, generic, length) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    REQUIRE(::getsockname(listener_, generic, &length) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(response)] {
      const int connection = ::accept(listener_, nullptr, nullptr);
      char request[4096];
      if (::read(connection, request, sizeof(request)) > 0)
        ::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::close(connection);
    });
  }
  ~OneAnswerServer() {
    thread_.join();
    ::close(listener_);
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/file", port_); }

 private:
  int listener_;
  int port_ = 0;
  std::thread thread_;
};

std::string http(const std::string& status, const std::string& body, std::size_t claimed_length) {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status, claimed_length, body);
}

/// Counts what it is told.
class CountingProgress final : public Progress {
 public:
  void begin(std::string_view, std::string_view, std::uint64_t total_units, std::uint64_t) override {
    total = total_units;
  }
  void advance(std::uint64_t units) override { done += units; }
  void finish() override { finished = true; }

  std::uint64_t total = 0, done = 0;
  bool finished = false;
};

const std::string content(100'000, 'm');

DataFile file_at(const std::string& url) {
  return {.name = "m.data", .url = url, .bytes = content.size(), .sha256 = sha256(content)};
}

TEST_CASE("a data set is fetched into its folder, with progress, and fetched again only if it was altered",
          "[core][data][fetch]") {
  const test::TemporaryDirectory source, target;
  write_file_atomically(source / "m.data", content);
  const DataSet set{.name = "moulds",
                    .description = "",
                    .licence = "",
                    .citation = "",
                    .files = {file_at("file://" + (source / "m.data").string())}};
  CountingProgress progress;
  const std::filesystem::path folder = fetch_data_set(set, target.path(), progress);
  CHECK(folder == target / "moulds");
  CHECK(read_file(folder / "m.data") == content);
  CHECK(progress.total == content.size());
  CHECK(progress.done == content.size());
  CHECK(progress.finished);

  fetch_data_set(set, target.path(), progress);
  CHECK(progress.done == content.size());
  write_file_atomically(folder / "m.data", "altered");
  fetch_data_set(set, target.path(), progress);
  CHECK(read_file(folder / "m.data") == content);
}

TEST_CASE("a file without a recorded checksum is known by its size", "[core][data][fetch]") {
  const test::TemporaryDirectory source, target;
  write_file_atomically(source / "m.data", content);
  DataFile file = file_at("file://" + (source / "m.data").string());
  file.sha256 = "";
  const DataSet set{.name = "moulds", .description = "", .licence = "", .citation = "", .files = {file}};
  CountingProgress progress;
  const std::filesystem::path folder = fetch_data_set(set, target.path(), progress);
  CHECK(read_file(folder / "m.data") == content);
  fetch_data_set(set, target.path(), progress);
  CHECK(progress.done == content.size());  // nothing was fetched again
  write_file_atomically(folder / "m.data", "cut");
  fetch_data_set(set, target.path(), progress);
  CHECK(read_file(folder / "m.data") == content);
  write_file_atomically(source / "m.data", "cut");
  CHECK_ERROR(fetch_file(file, folder / "m.data", progress), data, "found 3");
}

TEST_CASE("a file is fetched over HTTP", "[core][data][fetch]") {
  const test::TemporaryDirectory target;
  const OneAnswerServer server(http("200 OK", content, content.size()));
  SilentProgress progress;
  fetch_file(file_at(server.url()), target / "m.data", progress);
  CHECK(read_file(target / "m.data") == content);
}

/// `text` as a gzip file.
std::string gzipped(const std::string& text) {
  z_stream stream{};
  REQUIRE(::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(::deflateBound(&stream, text.size()), '\0'), from = text;
  stream.next_in = reinterpret_cast<Bytef*>(from.data()), stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data()), stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  ::deflateEnd(&stream);
  return packed;
}

TEST_CASE("a file whose address ends in .gz is decompressed as it arrives", "[core][data][fetch]") {
  const test::TemporaryDirectory source, target;
  CountingProgress progress;
  const auto fetch = [&](const std::string& bytes) {
    write_file_atomically(source / "m.data.gz", bytes);
    fetch_file(file_at("file://" + (source / "m.data.gz").string()), target / "m.data", progress);
  };
  const std::string packed = gzipped(content);
  CHECK_ERROR(fetch(packed.substr(0, packed.size() - 20)), data, "m.data.gz", "expected 100000 bytes");
  CHECK_ERROR(fetch(packed + "more"), data, "m.data.gz", "gzip stream breaks after 100000 bytes");
  CHECK_ERROR(fetch(content), data, "m.data.gz", "gzip stream breaks after 0 bytes");
  CHECK_ERROR(fetch(gzipped(content + content)), data, "m.data.gz", "more arrive");
  CHECK(std::filesystem::is_empty(target.path()));
  fetch(packed);
  CHECK(read_file(target / "m.data") == content);
  CHECK(progress.total == content.size());
}

TEST_CASE("a download that fails leaves nothing behind and says why", "[core][data][fetch]") {
  const test::TemporaryDirectory source, target;
  SilentProgress progress;
  const auto refused = [&](const DataFile& file, ErrorKind kind, const std::string& reason) {
    CAPTURE(reason);
    test::check_error([&] { fetch_file(file, target / "m.data", progress); }, kind, {file.url, reason});
    CHECK(std::filesystem::is_empty(target.path()));
  };
  refused(file_at("file://" + (source / "none").string()), ErrorKind::io, "cannot fetch");
  refused(file_at("ftp://127.0.0.1/m.data"), ErrorKind::io, "cannot fetch");
  refused(file_at(""), ErrorKind::usage, "may not be had from a fixed address");
  {
    const OneAnswerServer server(http("404 Not Found", "", 0));
    refused(file_at(server.url()), ErrorKind::io, "404");
  }
  {
    const OneAnswerServer server(http("200 OK", content.substr(0, 1000), content.size()));
    refused(file_at(server.url()), ErrorKind::io, "cannot fetch");
  }
  {
    const OneAnswerServer server(http("200 OK", "short", 5));
    refused(file_at(server.url()), ErrorKind::data, "expected 100000 bytes, found 5");
  }
  {
    const OneAnswerServer server(http("200 OK", content + "x", content.size() + 1));
    refused(file_at(server.url()), ErrorKind::data, "more arrive");
  }
  {
    const std::string altered = "x" + content.substr(1);
    const OneAnswerServer server(http("200 OK", altered, altered.size()));
    refused(file_at(server.url()), ErrorKind::data, "found " + sha256(altered));
  }
  CHECK_ERROR(fetch_file(file_at("file:///dev/null"), "/no/such/m.data", progress), io, "/no/such/m.data");
}

}  // namespace
}  // namespace stein
