#include <stein/core/byte_reader.h>
#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/core/line_reader.h>
#include <stein/lm/text/word_vectors.h>
#include <stein/lm/text/words.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stein::lm {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "word2vec's floats are read as they lie in memory");

constexpr std::int64_t largest_dimension = 65'536;
constexpr std::size_t longest_word = 1'000;

/// Gathers the vectors that are found, in the order of the file, until all of it was read.
class Collector {
 public:
  explicit Collector(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), places_(static_cast<std::size_t>(vocabulary.size()), none) {}

  void take(std::string_view word, std::span<const float> vector) {
    const auto number = vocabulary_.find(word);
    if (!number || places_[static_cast<std::size_t>(*number)] != none) return;
    places_[static_cast<std::size_t>(*number)] = std::ssize(vectors_);
    vectors_.insert(vectors_.end(), vector.begin(), vector.end());
  }

  WordVectors vectors(std::int64_t dimension) const {
    const auto width = static_cast<std::size_t>(dimension);
    WordVectors result{.dimension = dimension};
    result.values.assign(places_.size() * width, 0);
    for (std::size_t v = 0; v < places_.size(); ++v) {
      result.found.push_back(places_[v] != none);
      if (result.found.back())
        std::copy_n(vectors_.begin() + places_[v], width,
                    result.values.begin() + static_cast<std::ptrdiff_t>(v * width));
    }
    return result;
  }

 private:
  static constexpr std::ptrdiff_t none = -1;

  const Vocabulary& vocabulary_;
  std::vector<std::ptrdiff_t> places_;  ///< where the vector of each word begins in vectors_, or none
  std::vector<float> vectors_;
};

/// Tells a Progress how much of a file was read since it was told last.
class Told {
 public:
  Told(Progress& progress, std::uint64_t file_bytes) : progress_(progress) {
    progress_.begin("reading word vectors", "bytes", file_bytes);
  }
  ~Told() { progress_.finish(); }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

  void read(std::uint64_t file_bytes) {
    if (file_bytes == told_) return;
    progress_.advance(file_bytes - told_);
    told_ = file_bytes;
  }

 private:
  Progress& progress_;
  std::uint64_t told_ = 0;
};

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The first line of a file of word2vec.
struct Header {
  std::int64_t count = 0, dimension = 0;
};

bool is_integer(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The numbers of a header, compared with what the file can hold.
/// @param least_bytes  of a word with D numbers: least_bytes(D)
template <class LeastBytes>
Header checked_header(std::string_view line, const fs::path& path, std::uint64_t file_bytes, bool is_gzip,
                      const LeastBytes& least_bytes) {
  const std::vector<std::string_view> fields = words_between_spaces(line);
  const auto count = fields.size() == 2 ? number_in<std::int64_t>(fields[0]) : std::nullopt;
  const auto dimension = fields.size() == 2 ? number_in<std::int64_t>(fields[1]) : std::nullopt;
  if (!count || !dimension || *count < 1 || *dimension < 1 || *dimension > largest_dimension)
    fail(ErrorKind::data,
         "'{}', line 1: expected the number of words, from 1 on, and their dimension, from 1 to {}, found '{}'",
         path.string(), largest_dimension, escaped(line.substr(0, 100)));
  constexpr std::uint64_t gzip_ratio = 1032;  // of deflate at best
  const std::uint64_t most =
      (file_bytes * (is_gzip ? gzip_ratio : 1) + 1) / least_bytes(static_cast<std::uint64_t>(*dimension));
  if (file_bytes > 0 && static_cast<std::uint64_t>(*count) > most)
    fail(ErrorKind::data, "'{}', line 1: {} words of {} numbers do not fit into a file of {} bytes, {} at most",
         path.string(), *count, *dimension, file_bytes, most);
  return {*count, *dimension};
}

/// word2vec's binary format.
class BinaryReader {
 public:
  explicit BinaryReader(const fs::path& path) : bytes_(path), buffer_(std::size_t{1} << 16) {}

  WordVectors read(const Vocabulary& vocabulary, Progress& progress) {
    Told told(progress, bytes_.file_bytes());
    Collector collector(vocabulary);
    const Header claimed = header();
    std::vector<float> vector(static_cast<std::size_t>(claimed.dimension));
    for (std::int64_t record = 1; record <= claimed.count; ++record) {
      const auto fail_in_record = [&](const std::string& what) {
        fail(ErrorKind::data, "'{}', record {} of {}: {}", bytes_.path().string(), record, claimed.count, what);
      };
      const std::string word = next_word(fail_in_record);
      if (!take(std::as_writable_bytes(std::span(vector)))) fail_in_record("the file ends inside it");
      const auto odd = std::ranges::find_if_not(vector, [](float number) { return std::isfinite(number); });
      if (odd != vector.end())
        fail_in_record(fmt::format("number {} of '{}' is {}", odd - vector.begin() + 1, escaped(word), *odd));
      collector.take(word, vector);
      told.read(bytes_.file_bytes_read());
    }
    if (peek() == '\n') ++begin_;
    if (peek())
      fail(ErrorKind::data, "'{}' goes on behind the {} words that its first line says", bytes_.path().string(),
           claimed.count);
    return collector.vectors(claimed.dimension);
  }

 private:
  Header header() {
    constexpr std::size_t longest_header = 100;
    std::string line;
    while (line.size() < longest_header && peek() && peek() != '\n') line += buffer_[begin_++];
    const bool is_whole = peek() == '\n';
    if (is_whole) ++begin_;
    return checked_header(is_whole ? line : line + "…", bytes_.path(), bytes_.file_bytes(), bytes_.is_gzip(),
                          [](std::uint64_t dimension) { return sizeof(float) * dimension + 2; });
  }

  /// The word of a record; what stands before it may be the line end of the record before.
  template <class Fail>
  std::string next_word(const Fail& fail_in_record) {
    if (peek() == '\n') ++begin_;
    std::string word;
    for (; peek() && peek() != ' '; ++begin_) {
      if (word.size() == longest_word)
        fail_in_record(fmt::format("expected a word of at most {} bytes and a space, found '{}…'", longest_word,
                                   escaped(word.substr(0, 20))));
      word += buffer_[begin_];
    }
    if (!peek())
      fail_in_record(word.empty() ? "expected a word, found the end of the file" : "the file ends inside it");
    if (word.empty()) fail_in_record("expected a word, found a space");
    ++begin_;
    return word;
  }

  /// The next byte, which stays; nothing at the end.
  std::optional<char> peek() {
    if (begin_ == end_ && !fill()) return std::nullopt;
    return buffer_[begin_];
  }

  /// Fills `target`; false if the file ends before.
  bool take(std::span<std::byte> target) {
    while (!target.empty()) {
      if (begin_ == end_ && !fill()) return false;
      const std::size_t count = std::min(target.size(), end_ - begin_);
      std::memcpy(target.data(), buffer_.data() + begin_, count);
      begin_ += count;
      target = target.subspan(count);
    }
    return true;
  }

  bool fill() {
    begin_ = 0;
    end_ = bytes_.read(buffer_);
    return end_ > 0;
  }

  ByteReader bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< what was read and not taken yet: buffer_[begin_, end_)
};

/// A number of a line as a float.
float float_in(std::string_view text, const LineReader& reader) {
  const auto number = number_in<double>(text);
  if (!number) reader.fail_here("'{}' is no number", escaped(text.substr(0, 60)));
  const auto rounded = static_cast<float>(*number);
  if (!std::isfinite(rounded)) reader.fail_here("{} is not finite as a float", escaped(text.substr(0, 60)));
  return rounded;
}

/// Lines of a word and its numbers.
WordVectors read_text_vectors(const fs::path& path, const Vocabulary& vocabulary, Progress& progress) {
  LineReader reader(path);
  Told told(progress, reader.file_bytes());
  Collector collector(vocabulary);
  std::optional<Header> header;
  std::int64_t dimension = 0, count = 0;
  std::vector<float> vector;
  for (std::string_view line; reader.next(line);) {
    const std::vector<std::string_view> fields = words_between_spaces(line);
    if (reader.line_number() == 1 && fields.size() == 2 && is_integer(fields[0]) && is_integer(fields[1])) {
      header =
          checked_header(line, path, reader.file_bytes(), reader.is_gzip(), [](std::uint64_t d) { return 2 * d + 2; });
      dimension = header->dimension;
      continue;
    }
    if (dimension == 0) {
      dimension = std::ssize(fields) - 1;
      if (dimension < 1 || dimension > largest_dimension)
        reader.fail_here("expected a word and 1 to {} numbers, found '{}'", largest_dimension,
                         escaped(line.substr(0, 60)));
    }
    if (header && count == header->count)
      reader.fail_here("one word more than the {} that the first line says", header->count);
    const std::ptrdiff_t parts = std::ssize(fields) - dimension;
    const auto is_number = [](std::string_view field) { return number_in<double>(field).has_value(); };
    if (parts < 1 || std::any_of(fields.begin() + 1, fields.begin() + parts, is_number))
      reader.fail_here("expected a word and {} numbers, found {} numbers", dimension,
                       std::max<std::ptrdiff_t>(std::ssize(fields) - 1, 0));
    if (fields[0].size() > longest_word)
      reader.fail_here("expected a word of at most {} bytes, found one of {}", longest_word, fields[0].size());
    vector.clear();
    for (const std::string_view field : std::span(fields).last(static_cast<std::size_t>(dimension)))
      vector.push_back(float_in(field, reader));
    if (parts == 1) collector.take(fields[0], vector);
    ++count;
    told.read(reader.file_bytes_read());
  }
  if (count == 0 && !header) fail(ErrorKind::data, "'{}' is empty: expected vectors of words", path.string());
  if (header && count < header->count)
    fail(ErrorKind::data, "'{}' ends after {} of the {} words that its first line says", path.string(), count,
         header->count);
  return collector.vectors(dimension);
}

bool is_binary(fs::path path) {
  if (path.extension() == ".gz") path.replace_extension();
  return path.extension() == ".bin";
}

}  // namespace

std::int64_t WordVectors::found_count() const {
  return std::ranges::count(found, true);
}

WordVectors read_word_vectors(const fs::path& path, const Vocabulary& vocabulary, Progress& progress) {
  STEIN_CHECK(vocabulary.unit() == TokenUnit::words, "word vectors are for a vocabulary of words, got one of {}",
              unit_name(vocabulary.unit()));
  return is_binary(path) ? BinaryReader(path).read(vocabulary, progress)
                         : read_text_vectors(path, vocabulary, progress);
}

}  // namespace stein::lm
