#include <stein/bench/news_file.h>

#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <memory>
#include <vector>

#include <stein/core/error.h>
#include <stein/replay/log_reader.h>
#include <stein/replay/synthetic_news.h>
#include <stein/replay/yahoo_r6a.h>

namespace stein::bench {
namespace {

struct Close {
  void operator()(gzFile file) const { ::gzclose(file); }
};
using GzipFile = std::unique_ptr<gzFile_s, Close>;

GzipFile open(const std::filesystem::path& path, const char* mode) {
  GzipFile file(::gzopen(path.c_str(), mode));
  if (!file) fail(ErrorKind::io, "cannot open '{}'", path.string());
  return file;
}

std::filesystem::path new_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "stein-news-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) fail(ErrorKind::io, "cannot make a folder '{}'", name);
  return name;
}

}  // namespace

NewsFile::NewsFile(std::int64_t events, std::int64_t lifetime) : folder_(new_folder()) {
  replay::SyntheticNews news({.lifetime = lifetime});
  const GzipFile file = open(compressed(), "wb");
  std::ofstream text(plain(), std::ios::binary);
  for (std::int64_t i = 0; i < events; ++i) {
    news.event(i);
    const std::string line = news.line() + "\n";
    bytes_ += std::ssize(line);
    text << line;
    if (::gzwrite(file.get(), line.data(), static_cast<unsigned>(line.size())) != static_cast<int>(line.size()))
      fail(ErrorKind::io, "cannot write '{}'", compressed().string());
  }
}

NewsFile::~NewsFile() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void read_events(const std::filesystem::path& file, std::int64_t events) {
  replay::LogReader reader({file}, std::make_unique<replay::YahooR6a>(replay::YahooR6a::Options{}), events + 100);
  replay::LoggedEvent event;
  while (reader.next(event)) {
  }
  if (reader.events() != events || reader.bad_line_count() != 0)
    fail(ErrorKind::numeric, "{} events and {} bad lines were read, expected {} and none", reader.events(),
         reader.bad_line_count(), events);
}

void decompress(const std::filesystem::path& file, std::int64_t bytes, std::int64_t block) {
  static std::vector<char> buffer;
  buffer.resize(static_cast<std::size_t>(block));
  const GzipFile from = open(file, "rb");
  ::gzbuffer(from.get(), static_cast<unsigned>(block));
  std::int64_t found = 0;
  for (int count = 1; count > 0; found += count)
    count = ::gzread(from.get(), buffer.data(), static_cast<unsigned>(block));
  if (found != bytes) fail(ErrorKind::io, "{} bytes were decompressed, expected {}", found, bytes);
}

}  // namespace stein::bench
