#include <stein/core/checksum.h>
#include <stein/core/error.h>
#include <stein/core/progress.h>
#include <stein/lm/classification/sentence_experiment.h>
#include <stein/lm/classification/sentence_presets.h>
#include <stein/lm/classification/sentence_rows.h>
#include <stein/lm/text/word_vectors.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>
#include <stein/training/classifier_run.h>
#include <stein/training/data_name.h>

#include <optional>
#include <set>
#include <utility>

namespace stein::lm {
namespace {

/// One of each word of a set, for reading their vectors.
Vocabulary words_of_set(const SentenceSet& set) {
  std::set<std::string> words{std::string(unknown_word)};
  for (const Sentence& sentence : set.sentences) words.insert(sentence.words.begin(), sentence.words.end());
  return {TokenUnit::words, {words.begin(), words.end()}};
}

/// Vectors of all words of a set.
struct SetVectors {
  Vocabulary words;
  WordVectors vectors;

  std::string checksum() const { return sha256(std::as_bytes(std::span(vectors.values))); }

  /// Those of the words of `vocabulary`.
  std::shared_ptr<const inference::EmbeddingStart> start(const Vocabulary& vocabulary) const {
    auto start = std::make_shared<inference::EmbeddingStart>();
    const auto width = static_cast<std::size_t>(vectors.dimension);
    for (std::int32_t i = 0; i < vocabulary.size(); ++i) {
      const auto place = static_cast<std::size_t>(*words.find(vocabulary.token(i)));
      const auto vector = std::span(vectors.values).subspan(place * width, width);
      start->values.insert(start->values.end(), vector.begin(), vector.end());
      start->known.push_back(vectors.found[place]);
    }
    return start;
  }
};

std::vector<std::string> notices_of(const SentenceSet& set, const SentenceParts& parts,
                                    const std::optional<SetVectors>& vectors) {
  std::vector<std::string> notices;
  if (set.skipped > 0)
    notices.push_back(fmt::format("{} without a word left out", runs::counted(set.skipped, "sentence")));
  if (parts.unknown_validation + parts.unknown_test > 0)
    notices.push_back(fmt::format("words that the vocabulary does not have stand as {}: {} of validation, {} of test",
                                  unknown_word, parts.unknown_validation, parts.unknown_test));
  if (vectors)
    notices.push_back(fmt::format("the file of word vectors has {} of the {} words of the sentences",
                                  vectors->vectors.found_count(), vectors->words.size()));
  return notices;
}

training::LabelledParts rows_of(SentenceParts parts, const std::vector<std::string>& classes) {
  Snapshot meaning;
  SentenceExperiment::Meaning{.vocabulary = parts.vocabulary, .classes = classes}.save(meaning);
  const auto vocabulary = std::make_shared<const Vocabulary>(std::move(parts.vocabulary));
  const auto rows = [&](std::vector<NumberedSentence>& part) {
    return std::make_unique<SentenceRows>(std::move(part), vocabulary);
  };
  return {.train = rows(parts.train),
          .validation = rows(parts.validation),
          .test = rows(parts.test),
          .meaning = std::move(meaning)};
}

RecurrentOptions classifier_network() {
  RecurrentOptions options;
  options.spec.readout = inference::Readout::last_state;
  options.spec.bidirectional = true;
  options.spec.layers = 1;
  options.spec.hidden = 200;
  options.spec.embedding = 300;
  return options;
}

training::EpochOptions classifier_training() {
  return {.batch_size = 50, .epochs = 20, .burn_in = 0.05, .samples_per_epoch = 1, .stored_samples = 10};
}

}  // namespace

SentenceExperiment::SentenceExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : ClassifierExperiment(kind, sources, published(), /*checkpoint_every=*/100'000,
                           named_sentences(sources).is_cross_validated() ? "0:10" : "0:1"),
      sentences_(named_sentences(sources)),
      network_(classifier_network()),
      training_(classifier_training()) {
  add_sampler(training::NetworkInputs::words);
  add_part("Sentences", [this](OptionTable& table) {
    sentences_.describe(table);
    table("word_vectors", word_vectors_,
          "file of vectors that embeddings of known words start from: word2vec's .bin, or text as GloVe has; "
          "empty: all start at random");
  });
  add_part("Network", [this](OptionTable& table) { network_.describe(table); });
  add_part("Training", [this](OptionTable& table) { training_.describe(table); });
  read_with_method(sources, sentences_.data, sentences_.is_file());
}

SentenceExperiment::Published SentenceExperiment::published() {
  return {sentence_presets(), "classifiers of sentences"};
}

bool SentenceExperiment::recognises(const runs::OptionSources& sources) {
  SentenceOptions options;
  options.data = sources.look_ahead("data", "");
  if (!options.data.empty())
    return sentence_sets().entries().contains(options.data) ||
           (options.is_file() && !training::means_table(options.data) && !training::means_images(options.data));
  return sources.preset.empty() || training::is_preset(sentence_presets(), sources.preset);
}

SentenceOptions SentenceExperiment::named_sentences(const runs::OptionSources& sources) {
  SentenceOptions options;
  options.data = named_data(sources, published(), options.data);
  options.test_data = sources.look_ahead("test_data", "");
  return options;
}

void SentenceExperiment::Meaning::save(Snapshot& snapshot) const {
  snapshot.put_saved("vocabulary", vocabulary);
  snapshot.put_text("classes", Vocabulary(TokenUnit::words, classes).text());
}

SentenceExperiment::Meaning SentenceExperiment::Meaning::saved_in(const Snapshot& snapshot) {
  const Vocabulary classes = Vocabulary::parse(snapshot.get_text("classes"), "the classes of the checkpoint");
  Meaning meaning{.vocabulary = saved_vocabulary(snapshot), .classes = {}};
  for (std::int32_t i = 0; i < classes.size(); ++i) meaning.classes.push_back(classes.token(i));
  return meaning;
}

std::unique_ptr<inference::Model<float>> SentenceExperiment::make_model(const Snapshot& meaning,
                                                                        inference::Device device) const {
  const Meaning known = Meaning::saved_in(meaning);
  inference::RecurrentSpec spec = network_.spec;
  spec.vocabulary = known.vocabulary.size();
  spec.classes = std::ssize(known.classes);
  return make_recurrent_model(spec, method().posterior.arithmetic, device, 1);
}

std::unique_ptr<training::LabelledRows> SentenceExperiment::other_rows(const std::string& data,
                                                                       const Snapshot& meaning) const {
  SentenceOptions options = sentences_;
  options.data = data, options.test_data = "";
  const SentenceSet set = read_sentence_set(options);
  auto vocabulary = std::make_shared<const Vocabulary>(Meaning::saved_in(meaning).vocabulary);
  std::vector<NumberedSentence> sentences;
  for (std::size_t i = set.given_test.value_or(0); i < set.sentences.size(); ++i)
    sentences.push_back({.words = numbers_of(set.sentences[i].words, *vocabulary), .label = 0});
  return std::make_unique<SentenceRows>(std::move(sentences), std::move(vocabulary));
}

std::unique_ptr<training::EpochRun> SentenceExperiment::make_trainings() const {
  const inference::Device device = this->device();
  SentenceOptions options = sentences_;
  const SentenceSet set = read_sentence_set(options);
  std::optional<SetVectors> vectors;
  inference::RecurrentSpec spec = network_.spec;
  spec.classes = std::ssize(set.classes);
  if (!word_vectors_.empty()) {
    Vocabulary words = words_of_set(set);
    SilentProgress silent;
    WordVectors read = read_word_vectors(word_vectors_, words, silent);
    STEIN_CHECK(read.dimension == spec.embedding_size(),
                "'{}' has vectors of {} numbers, 'embedding' says {}: set embedding={}", word_vectors_.string(),
                read.dimension, spec.embedding_size(), read.dimension);
    vectors = SetVectors{.words = std::move(words), .vectors = std::move(read)};
  }
  const auto parts_of = [&](std::uint64_t seed) {
    if (options.is_cross_validated())
      options.fold = static_cast<std::int64_t>(seed % static_cast<std::uint64_t>(options.folds));
    return part_sentences(set, options);
  };
  const auto make_trainer = [&](std::uint64_t seed) {
    SentenceParts parts = parts_of(seed);
    inference::RecurrentSpec own = spec;
    own.vocabulary = parts.vocabulary.size();
    if (vectors) own.embedding_start = vectors->start(parts.vocabulary);
    return std::make_unique<training::ClassifierTrainer>(
        rows_of(std::move(parts), set.classes), training_, method(),
        make_recurrent_model(own, method().posterior.arithmetic, device, seeds().count()), seed);
  };
  const SentenceParts first = parts_of(seeds().first);
  std::map<std::string, std::string> checksums = set.checksums;
  if (vectors) checksums[word_vectors_.filename().string() + ", of these words"] = vectors->checksum();
  return std::make_unique<training::ClassifierRun>(
      seeds(),
      training::ClassifierRun::Facts{.data = set.name,
                                     .source = "sentences " + set.name,
                                     .datum = "sentence",
                                     .network = network_name(spec),
                                     .method = method_name(),
                                     .epochs = training_.epochs,
                                     .classes = set.classes,
                                     .folds = options.is_cross_validated(),
                                     .notices = notices_of(set, first, vectors),
                                     .data_options = values_of("Sentences"),
                                     .checksums = std::move(checksums)},
      make_trainer);
}

std::vector<runs::Part> sentence_parts() {
  SentenceOptions file{.data = "./SENTENCES"}, split{.data = "trec"}, folds{.data = "mr"};
  RecurrentOptions network = classifier_network();
  training::EpochOptions training = classifier_training();
  std::vector<runs::Part> parts{
      runs::make_part("sentences", "FILE", "sentences of one's own", OptionTable::of(file)),
      runs::make_part("sentences", "trec", sentence_sets().at("trec").description, OptionTable::of(split)),
      runs::make_part("sentences", "mr, subj, cr, mpqa", "sets without a test part", OptionTable::of(folds)),
      runs::make_part("network", "", "", OptionTable::of(network)),
      runs::make_part("training", "", "", OptionTable::of(training))};
  training::add_method_parts(parts, sentence_presets(), training::NetworkInputs::words);
  return parts;
}

}  // namespace stein::lm
