#include <stein/core/flush_denormals.h>
#include <stein/lm/captioning/caption_trainer.h>

#include <utility>

namespace stein::lm {
namespace {

training::EpochTrainer::Epoch epoch_of(const CaptionCorpus& corpus, const CaptionTrainingOptions& options) {
  const training::EpochOrder order(std::ssize(corpus.train), options.epochs.batch_size, 0);
  return {.minibatches = order.minibatches(), .data = std::ssize(corpus.train), .steps = token_count(corpus.train)};
}

HeldText held_text(const std::vector<CaptionSequence>& captions, const CaptionCorpus& corpus) {
  auto scorer = std::make_shared<CaptionScorer>(captions, corpus.data.features.view());
  return {scorer->tokens(), "each word from the image and the words before",
          [scorer](auto& model, const auto& weights, auto log_probability) {
            scorer->score(model, weights, log_probability);
          }};
}

}  // namespace

CaptionTrainer::CaptionTrainer(const CaptionCorpus& corpus, const CaptionTrainingOptions& options,
                               const training::WeightMethodOptions& method, const inference::RecurrentSpec& spec,
                               std::unique_ptr<inference::Model<float>> model, std::uint64_t seed)
    : TextTrainer(options.epochs, method, std::move(model), epoch_of(corpus, options), seed,
                  held_text(corpus.validation, corpus), held_text(corpus.test, corpus)),
      corpus_(corpus),
      spec_(spec),
      decoding_(options.decoding),
      order_(std::ssize(corpus.train), options.epochs.batch_size, seed) {}

Snapshot CaptionTrainer::meaning() const {
  Snapshot meaning;
  meaning.put_saved("vocabulary", corpus_.vocabulary);
  meaning.put("features", corpus_.data.features.columns());
  return meaning;
}

inference::Batch<float> CaptionTrainer::minibatch(std::int64_t epoch, std::int64_t c) {
  batch_.fill(corpus_.train, order_.minibatch(epoch, c), corpus_.data.features.view());
  return batch_.batch(static_cast<double>(corpus_.train.size()));
}

training::WeightDraws CaptionTrainer::draws() {
  return {weights(), {.draws = options().draws, .seed = seed()}, sample_folder(), stored_samples()};
}

CaptionDecoder CaptionTrainer::decoder() {
  return {weights().posterior().model(), spec_, corpus_.vocabulary, corpus_.data.features.view(), decoding_};
}

std::int64_t CaptionTrainer::rounds() {
  const bool at_end = weights().kind() == training::MethodKind::optimizer;
  const std::int64_t samples = draws().count();
  return 1 + (at_end ? 0 : 1) + (samples > 1 ? samples : 0) + (has_best() ? 1 : 0);
}

CaptionQuality CaptionTrainer::quality_of(const Captions& captions, const std::vector<CaptionedImage>& images) {
  return caption_quality(candidate_captions(images, decoder().texts(captions)), corpus_.scenes);
}

CaptionQuality CaptionTrainer::quality_under(inference::MatrixView<const float> weights,
                                             const std::vector<CaptionedImage>& images) {
  return quality_of(decoder().decode(weights, rows_of(images), seed()), images);
}

CaptionQuality CaptionTrainer::quality_of_end(const std::vector<CaptionedImage>& images) {
  training::WeightDraws end(weights(), {.mean = true, .seed = seed()}, {}, 0);
  return quality_under(end.all().view(), images);
}

CaptionWorth CaptionTrainer::worth(const std::vector<CaptionedImage>& images, CaptionWorth Described::*part,
                                   const Watch& watch) {
  if (const Described* const found = described_.after(steps_done())) {
    watch.advance(static_cast<std::uint64_t>(rounds()));
    return found->*part;
  }
  const FlushDenormals flush;  // the same bits inside a task, as where ranks conclude, and outside of one
  training::WeightDraws averaged_over = draws();
  const inference::Matrix<float> samples = averaged_over.all();
  CaptionWorth found{.samples = samples.rows()};
  found.decoded = decoder().decode(samples.view(), rows_of(images), seed());
  found.averaged = quality_of(found.decoded, images);
  watch.advance();
  if (watch.stop_requested()) return found;
  const bool at_end = weights().kind() == training::MethodKind::optimizer;
  found.final_weights = at_end ? found.averaged : quality_of_end(images);
  if (!at_end) watch.advance();
  found.single = found.averaged;
  if (found.samples > 1) {
    std::vector<CaptionQuality> each;
    for (std::int64_t k = 0; k < samples.rows() && !watch.stop_requested(); ++k, watch.advance())
      each.push_back(quality_under(samples.view().block(k, 1), images));
    if (watch.stop_requested()) return found;
    found.single = mean_quality(each);
  }
  with_best([&] {
    found.chosen = quality_of_end(images);
    watch.advance();
  });
  return found;
}

CaptionWorth CaptionTrainer::validation_worth(const Watch& watch) {
  return worth(corpus_.data.validation, &Described::validation, watch);
}

CaptionWorth CaptionTrainer::test_worth(const Watch& watch) {
  return worth(corpus_.data.test, &Described::test, watch);
}

void CaptionTrainer::conclude(const StopToken& stop) {
  TextTrainer::conclude(stop);
  if (stop.stop_requested()) return;
  CaptionWorth validation = validation_worth(stop);
  if (stop.stop_requested()) return;
  CaptionWorth test = test_worth(stop);
  if (!stop.stop_requested()) described_.keep({std::move(validation), std::move(test)}, steps_done());
}

void CaptionTrainer::forget_draws() {
  TextTrainer::forget_draws();
  described_.forget();
}

void CaptionTrainer::save_stream(Snapshot& snapshot) const {
  TextTrainer::save_stream(snapshot);
  if (described_.after(steps_done()) != nullptr) snapshot.put_saved("captions", described_);
}

void CaptionTrainer::restore_stream(const Snapshot& snapshot) {
  TextTrainer::restore_stream(snapshot);
  described_.restore(snapshot.part("captions"));
}

}  // namespace stein::lm
