#include <simdjson.h>
#include <stein/core/checksum.h>
#include <stein/core/data/manifest.h>
#include <stein/core/error.h>
#include <stein/core/escaped_text.h>
#include <stein/core/line_reader.h>
#include <stein/lm/text/sentence_cleaning.h>
#include <stein/lm/text/sentence_set.h>
#include <stein/lm/text/words.h>
#include <stein/training/data_name.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

namespace stein::lm {
namespace {

namespace fs = std::filesystem;

std::string utf8_of_latin1(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x80) {
      result += letter;
    } else {
      result += static_cast<char>(0xc0 | byte >> 6);
      result += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return result;
}

/// Calls `visit` with the label and the sentence of every line of a file: what stands before the first space or tab,
/// and what stands behind it.
template <class Visit>
void for_each_line(const fs::path& path, const Visit& visit) {
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    if (end == 0) reader.fail_here("expected a label and a sentence, found '{}'", escaped(line.substr(0, 60)));
    visit(reader, std::string(line.substr(0, end)), line.substr(std::min(end + 1, line.size())));
  }
}

/// Sets of one or two files of the data set "sentences".
SentenceSet read_published(const SentenceOptions& options, std::vector<std::string> classes, const std::string& train,
                           const std::string& test = "") {
  const fs::path folder = require_data_set("sentences", options.data_folder, "a file of your own needs none");
  SentenceSet set{.name = options.data, .classes = std::move(classes), .sentences = {}};
  const auto read = [&](const std::string& file) {
    for_each_line(data_file(folder, file), [&](const LineReader& reader, const std::string& label,
                                               std::string_view text) {
      std::int32_t number = -1;
      const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
      if (error != std::errc() || end != label.data() + label.size() || number < 0 || number >= std::ssize(set.classes))
        reader.fail_here("expected a class from 0 to {}, found '{}'", set.classes.size() - 1, escaped(label));
      set.sentences.push_back({words_of(utf8_of_latin1(text), options), number});
      if (set.sentences.back().words.empty()) ++set.empty;
    });
    for (const DataFile& known : data_set("sentences").files)
      if (known.name == file) set.checksums[file] = known.sha256;
  };
  read(train);
  if (test.empty()) return set;
  set.given_test = set.sentences.size();
  read(test);
  return set;
}

/// By value if all are whole numbers, else by letters.
void sort_labels(std::vector<std::string>& labels) {
  const auto is_whole_number = [](const std::string& label) {
    return label.size() < 19 && label.find_first_not_of("0123456789") == std::string::npos;
  };
  const bool numbers = std::ranges::all_of(labels, is_whole_number);
  std::ranges::sort(labels, {},
                    [&](const std::string& label) { return std::pair(numbers ? std::stoll(label) : 0, label); });
}

class OwnFiles {
 public:
  explicit OwnFiles(const SentenceOptions& options) : options_(options) {
    set_.name = fs::path(options.data).stem().string();
    read(options.data, [](const LineReader&, const std::string&) {});
    number_classes(options.data);
    if (options.test_data.empty()) return;
    set_.given_test = labels_.size();
    read(options.test_data, [&](const LineReader& reader, const std::string& label) {
      if (std::ranges::find(set_.classes, label) == set_.classes.end())
        reader.fail_here("the class '{}' is not in the training file '{}'", escaped(label), options.data);
    });
  }

  SentenceSet set() {
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const auto place = std::ranges::find(set_.classes, labels_[i]);
      set_.sentences[i].label = static_cast<std::int32_t>(place - set_.classes.begin());
    }
    return std::move(set_);
  }

 private:
  /// @param check  looks at a line's label
  template <class Check>
  void read(const fs::path& path, const Check& check) {
    const std::size_t before = labels_.size();
    for_each_line(path, [&](const LineReader& reader, std::string label, std::string_view text) {
      if (!simdjson::validate_utf8(label) || !simdjson::validate_utf8(text.data(), text.size()))
        reader.fail_here("expected UTF-8, found '{}'",
                         escaped(std::string(label) + " " + std::string(text.substr(0, 60))));
      std::vector<std::string> words = words_of(text, options_);
      if (words.empty()) {
        ++set_.skipped;
        return;
      }
      check(reader, label);
      set_.sentences.push_back({std::move(words), 0});
      labels_.push_back(std::move(label));
    });
    if (labels_.size() == before) fail(ErrorKind::data, "'{}' has no sentence", path.string());
    set_.checksums[path.filename().string()] = sha256_file(path);
  }

  void number_classes(const fs::path& path) {
    const std::set<std::string> labels(labels_.begin(), labels_.end());
    set_.classes.assign(labels.begin(), labels.end());
    sort_labels(set_.classes);
    if (set_.classes.size() < 2)
      fail(ErrorKind::data, "'{}': expected sentences of at least two classes, found only '{}'", path.string(),
           escaped(set_.classes.front()));
  }

  const SentenceOptions& options_;
  SentenceSet set_;
  std::vector<std::string> labels_;  ///< of each sentence
};

SentenceSet read_trec(const SentenceOptions& options) {
  return read_published(options, {"DESC", "ENTY", "ABBR", "HUM", "LOC", "NUM"}, "TREC.train.all", "TREC.test.all");
}

/// A set of two classes in one file.
SentenceSetEntry binary_set(std::string description, const std::vector<std::string>& classes, const std::string& file) {
  return {std::move(description),
          [classes, file](const SentenceOptions& options) { return read_published(options, classes, file); }};
}

const bool registered =
    sentence_sets().add("trec", {"TREC questions: 5,452 + 500 of 6 types", read_trec}) &&
    sentence_sets().add("mr", binary_set("reviews of films: 10,662 sentences, negative or positive",
                                         {"negative", "positive"}, "rt-polarity.all")) &&
    sentence_sets().add("subj", binary_set("subjectivity: 10,000 sentences, subjective or objective",
                                           {"subjective", "objective"}, "subj.all")) &&
    sentence_sets().add("cr", binary_set("reviews of products: 3,775 sentences, negative or positive",
                                         {"negative", "positive"}, "custrev.all")) &&
    sentence_sets().add("mpqa", binary_set("MPQA opinions: 10,606 phrases, negative or positive",
                                           {"negative", "positive"}, "mpqa.all"));

}  // namespace

bool SentenceOptions::is_file() const {
  return training::means_file(data, sentence_sets());
}

bool SentenceOptions::is_cross_validated() const {
  return is_file() ? test_data.empty() : data != "trec";
}

std::vector<std::string> words_of(std::string_view sentence, const SentenceOptions& options) {
  using Cleaning = SentenceOptions::Cleaning;
  Cleaning cleaning = options.cleaning;
  if (cleaning == Cleaning::automatic)
    cleaning = options.is_file() ? Cleaning::none : options.data == "trec" ? Cleaning::kim_with_case : Cleaning::kim;
  if (cleaning != Cleaning::none) return cleaned_words(sentence, cleaning == Cleaning::kim);
  const std::vector<std::string_view> words = words_between_spaces(sentence);
  return {words.begin(), words.end()};
}

Registry<SentenceSetEntry>& sentence_sets() {
  static Registry<SentenceSetEntry> entries("set of sentences");
  return entries;
}

SentenceSet read_sentence_set(const SentenceOptions& options) {
  return options.is_file() ? OwnFiles(options).set() : sentence_sets().at(options.data).read(options);
}

}  // namespace stein::lm
