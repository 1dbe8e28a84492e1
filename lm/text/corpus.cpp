#include <stein/core/checksum.h>
#include <stein/core/data/manifest.h>
#include <stein/core/error.h>
#include <stein/core/read_file.h>
#include <stein/lm/text/corpus.h>
#include <stein/lm/text/tokenizer.h>
#include <stein/training/data_name.h>

#include <algorithm>
#include <numeric>

namespace stein::lm {
namespace {

namespace fs = std::filesystem;

TokenUnit unit_of(const CorpusOptions& options, TokenUnit automatic) {
  switch (options.tokens) {
    case CorpusOptions::Unit::words: return TokenUnit::words;
    case CorpusOptions::Unit::bytes: return TokenUnit::bytes;
    case CorpusOptions::Unit::characters: return TokenUnit::characters;
    case CorpusOptions::Unit::automatic: break;
  }
  return automatic;
}

/// A part of a text, and what an error calls it.
struct Part {
  std::string_view text;
  std::string source;
};

/// Of words the training part has the vocabulary, of bytes and characters all parts.
Vocabulary vocabulary_of(const Part& train, std::string_view whole, TokenUnit unit, std::int64_t min_count) {
  if (unit != TokenUnit::words) return make_vocabulary(whole, unit, train.source);
  bool has_unknown = false;
  for_each_token(train.text, unit, train.source,
                 [&](std::string_view word) { has_unknown = has_unknown || word == unknown_word; });
  return make_vocabulary(train.text, unit, train.source, min_count > 0 ? min_count : has_unknown ? 1 : 2);
}

Corpus make_corpus(std::string name, const Part& train, const Part& validation, const Part& test,
                   Vocabulary vocabulary) {
  Corpus corpus{.name = std::move(name), .vocabulary = std::move(vocabulary)};
  TokenizedText learned = tokenize(train.text, corpus.vocabulary, train.source);
  corpus.unknown_train = learned.unknown;
  corpus.train.push_back(std::move(learned.tokens));
  TokenizedText held = tokenize(validation.text, corpus.vocabulary, validation.source);
  corpus.unknown_validation = held.unknown;
  corpus.validation.push_back(std::move(held.tokens));
  held = tokenize(test.text, corpus.vocabulary, test.source);
  corpus.unknown_test = held.unknown;
  corpus.test.push_back(std::move(held.tokens));
  return corpus;
}

fs::path folder_of(std::string_view set, const CorpusOptions& options) {
  return require_data_set(set, options.data_folder, "`--data text-synthetic` needs none");
}

Corpus read_ptb(const CorpusOptions& options) {
  const fs::path folder = folder_of("ptb", options);
  const std::vector<DataFile>& files = data_set("ptb").files;
  std::vector<std::string> texts;
  texts.reserve(files.size());
  for (const DataFile& file : files) texts.push_back(read_text(data_file(folder, file.name)));
  const Part train{texts[0], files[0].name}, validation{texts[1], files[1].name}, test{texts[2], files[2].name};
  const TokenUnit unit = unit_of(options, TokenUnit::words);
  const std::string whole = unit == TokenUnit::words ? "" : texts[0] + texts[1] + texts[2];
  Corpus corpus = make_corpus("ptb", train, validation, test, vocabulary_of(train, whole, unit, options.min_count));
  for (const DataFile& file : files) corpus.checksums[file.name] = file.sha256;
  return corpus;
}

/// The cut of char-rnn (Karpathy et al. 2016), which Gan et al. 2017 use: the text as 100 rows of equal length, each
/// cut into pieces of 100 tokens, of which the first 260 are for training, 32 for validation and 33 for the test (of
/// other texts 80 %, 10 % and the rest).
void cut_rows(std::span<const std::int32_t> tokens, Corpus& corpus) {
  constexpr std::int64_t rows = 100, steps = 100;
  const std::int64_t pieces = std::ssize(tokens) / (rows * steps);
  if (pieces < 10)
    fail(ErrorKind::data, "the text has {} tokens, expected at least {} for 100 rows of 10 pieces", tokens.size(),
         10 * rows * steps);
  const std::int64_t train = pieces * 8 / 10, validation = pieces / 10;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto piece = [&](std::int64_t first, std::int64_t count) {
      // One token more: the last one's target. Behind the end of the text stands its beginning.
      std::vector<std::int32_t> stretch;
      const std::int64_t begin = row * pieces * steps + first * steps;
      for (std::int64_t t = begin; t <= begin + count * steps; ++t)
        stretch.push_back(tokens[static_cast<std::size_t>(t % std::ssize(tokens))]);
      return stretch;
    };
    corpus.train.push_back(piece(0, train));
    corpus.validation.push_back(piece(train, validation));
    corpus.test.push_back(piece(train + validation, pieces - train - validation));
  }
}

Corpus make_synthetic(const CorpusOptions& options) {
  STEIN_CHECK(unit_of(options, TokenUnit::words) == TokenUnit::words, "the tokens of text-synthetic are words, got {}",
              unit_name(unit_of(options, TokenUnit::words)));
  const auto words = static_cast<std::int32_t>(options.synthetic_words);
  auto truth = std::make_shared<const MarkovSource>(words, options.synthetic_spread, /*seed=*/0);
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(words));
  for (std::int32_t word = 0; word < words; ++word) names.push_back(fmt::format("w{}", word));
  return {.name = "text-synthetic",
          .synthetic = true,
          .vocabulary = Vocabulary(TokenUnit::words, std::move(names)),
          .train = {truth->text(options.synthetic_tokens, 0)},
          .validation = {truth->text(options.synthetic_tokens / 5, 1)},
          .test = {truth->text(options.synthetic_tokens / 5, 2)},
          .truth = truth};
}

/// The first place from `wanted` on where a part may end: behind a line, of characters behind one.
std::size_t place_to_cut(std::string_view text, std::size_t wanted, TokenUnit unit) {
  if (unit == TokenUnit::words) return wanted == 0 ? 0 : std::min(text.find('\n', wanted - 1), text.size() - 1) + 1;
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80; };
  while (unit == TokenUnit::characters && wanted < text.size() && continues(wanted)) ++wanted;
  return wanted;
}

Corpus read_own_text(const CorpusOptions& options) {
  const fs::path path = options.data;
  const TokenUnit unit = unit_of(options, TokenUnit::bytes);
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    fail(ErrorKind::data, "the text '{}' does not exist; a run looks for it where it was when the run began",
         path.string());
  const std::string text = read_text(path);
  if (text.empty()) fail(ErrorKind::data, "'{}' is empty: there is nothing to learn", path.string());
  std::map<std::string, std::string> checksums{{path.filename().string(), sha256(text)}};
  const auto held_text = [&](const fs::path& file, const char* part) {
    if (file.empty()) return std::string();
    std::string held = read_text(file);
    checksums[fmt::format("{}, for {}", file.filename().string(), part)] = sha256(held);
    return held;
  };
  const std::string validation_text = held_text(options.validation_text, "validation"),
                    test_text = held_text(options.test_text, "the test");
  const double test_share = options.test_text.empty() ? options.test_share : 0;
  const double held_share = test_share + (options.validation_text.empty() ? options.validation_share : 0);
  const auto cut = [&](double share) {
    return place_to_cut(text, static_cast<std::size_t>(static_cast<double>(text.size()) * (1 - share)), unit);
  };
  const std::size_t validation = cut(held_share), test = cut(test_share);
  const auto part = [&](const fs::path& file, std::string_view own, std::size_t begin, std::size_t end,
                        const char* name) {
    if (!file.empty()) return Part{own, file.string()};
    return Part{std::string_view(text).substr(begin, end - begin), fmt::format("{}, {} part", path.string(), name)};
  };
  const Part train{std::string_view(text).substr(0, validation), path.string()};
  const std::string whole = unit == TokenUnit::words ? "" : text + validation_text + test_text;
  Corpus corpus = make_corpus(path.stem().string(), train,
                              part(options.validation_text, validation_text, validation, test, "validation"),
                              part(options.test_text, test_text, test, text.size(), "test"),
                              vocabulary_of(train, whole, unit, options.min_count));
  corpus.checksums = std::move(checksums);
  if (corpus.vocabulary.size() < 2)
    fail(ErrorKind::data, "'{}' has one token alone, again and again: there is nothing to predict", path.string());
  return corpus;
}

/// The published cut is of bytes (or characters), whose vocabulary is that of all parts. Words are cut as those of a
/// text of one's own, so that the vocabulary is that of the training part.
Corpus read_character_text(const CorpusOptions& options, const char* name, const char* file) {
  const fs::path path = data_file(folder_of("chartext", options), file);
  const TokenUnit unit = unit_of(options, TokenUnit::bytes);
  if (unit == TokenUnit::words) {
    CorpusOptions own = options;
    own.data = path.string();
    Corpus corpus = read_own_text(own);
    corpus.name = name;
    return corpus;
  }
  const std::string text = read_text(path);
  Corpus corpus{.name = name, .vocabulary = vocabulary_of({text, file}, text, unit, options.min_count)};
  cut_rows(tokenize(text, corpus.vocabulary, file).tokens, corpus);
  corpus.checksums[file] = sha256(text);
  return corpus;
}

const bool registered =
    corpora().add("ptb", {"Penn Treebank, words: 929,589 tokens, vocabulary of 10,000", read_ptb}) &&
    corpora().add("war-and-peace", {"War and Peace, bytes: 260 / 32 / 33 pieces of 100 rows × 100 bytes, 87 distinct",
                                    [](const CorpusOptions& options) {
                                      return read_character_text(options, "war-and-peace", "warpeace_input.txt");
                                    }}) &&
    corpora().add("tiny-shakespeare", {"plays of Shakespeare, bytes: 1,115,394, 65 distinct",
                                       [](const CorpusOptions& options) {
                                         return read_character_text(options, "tiny-shakespeare", "tinyshakespeare.txt");
                                       }}) &&
    corpora().add("text-synthetic", {"a Markov chain of words, whose entropy rate is known", make_synthetic});

}  // namespace

std::int64_t token_count(const Stretches& stretches) {
  return std::accumulate(stretches.begin(), stretches.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& stretch) { return sum + std::ssize(stretch); });
}

std::optional<double> tokens_per_character(const Stretches& stretches, const Vocabulary& vocabulary) {
  if (vocabulary.unit() == TokenUnit::words) return std::nullopt;
  if (vocabulary.unit() == TokenUnit::characters) return 1;
  std::vector<bool> begins;  // whether a character begins with the byte
  for (std::int32_t number = 0; number < vocabulary.size(); ++number)
    begins.push_back((static_cast<unsigned char>(vocabulary.token(number).front()) & 0xC0) != 0x80);
  std::int64_t characters = 0;
  for (const std::vector<std::int32_t>& stretch : stretches)
    characters += std::ranges::count_if(stretch, [&](std::int32_t token) { return begins[token]; });
  return static_cast<double>(token_count(stretches)) / static_cast<double>(std::max<std::int64_t>(characters, 1));
}

bool CorpusOptions::is_file() const {
  return training::means_file(data, corpora());
}

Registry<CorpusEntry>& corpora() {
  static Registry<CorpusEntry> entries("text");
  return entries;
}

Corpus read_corpus(const CorpusOptions& options) {
  return options.is_file() ? read_own_text(options) : corpora().at(options.data).read(options);
}

}  // namespace stein::lm
