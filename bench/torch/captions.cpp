// Beam search over captions of many images, against the same search in tensor operations.
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/mushroom_case.h>
#include <stein/core/error.h>
#include <stein/inference/models/particle_recurrent.h>
#include <stein/lm/captioning/caption_decoder.h>

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace stein::bench {
namespace {

using namespace stein::inference;

constexpr std::int64_t features = 2048;

struct CaptionOptions {
  std::int64_t hidden = 512;
  std::int64_t vocabulary = 10'000;
  std::int64_t images = 128;
  std::int64_t beam_width = 5;
  std::int64_t words = 10;
  double round_seconds = 1;

  template <class V>
  void describe(V& v) {
    v("hidden", hidden, "units of the LSTM, which has one layer", between(1, 10'000));
    v("vocabulary", vocabulary, "words", between(100, 1e6));
    v("images", images, "that are decoded in a call", between(1, 10'000));
    v("beam_width", beam_width, "hypotheses of an image", between(1, 100));
    v("words", words, "of every caption", between(1, 100), "words");
    v("round_seconds", round_seconds, "how long each is measured in a round", positive, "seconds");
  }
};

lm::Vocabulary numbered_words(std::int64_t count) {
  std::vector<std::string> words{std::string(lm::start_of_caption), std::string(lm::end_of_sentence),
                                 std::string(lm::unknown_word)};
  while (std::ssize(words) < count) words.push_back(fmt::format("word{}", words.size()));
  return {lm::TokenUnit::words, std::move(words)};
}

/// Random images and a random network that never ends a caption before it has to: the work is the same for every image.
struct CaptionCase {
  explicit CaptionCase(const CaptionOptions& wanted)
      : options(wanted),
        spec{.vocabulary = wanted.vocabulary,
             .hidden = wanted.hidden,
             .layers = 1,
             .features = features,
             .start_range = 0.3},
        model(spec),
        weights(1, model.layout().size()),
        images(wanted.images, features) {
    model.draw_start(weights.row(0), 1, 0);
    for (const std::int32_t token : {lm::start_token, lm::end_token, lm::unknown_token})
      weights.row(0)[static_cast<std::size_t>(model.layout().find("output.bias")->offset + token)] = -30;
    for (std::int64_t i = 0; i < images.rows(); ++i) {
      fill_normal(images.row(i), {.seed = 2}, static_cast<std::uint32_t>(i));
      for (float& x : images.row(i)) x /= std::sqrt(static_cast<float>(features));
    }
  }
  /// The first word follows one hypothesis of an image; each further word, and the end, as many as a beam has.
  double hypotheses() const { return static_cast<double>(options.images * (1 + options.beam_width * options.words)); }

  CaptionOptions options;
  RecurrentSpec spec;
  ParticleRecurrent model;
  Matrix<float> weights, images;
};

/// As `stein caption eval` decodes.
class OurCaptions {
 public:
  explicit OurCaptions(CaptionCase& shared)
      : case_(shared),
        vocabulary_(numbered_words(shared.options.vocabulary)),
        rows_(static_cast<std::size_t>(shared.options.images)),
        decoder_(shared.model, shared.spec, vocabulary_, shared.images.view(),
                 {.beam = {.beam_width = shared.options.beam_width, .max_length = shared.options.words}}) {
    std::iota(rows_.begin(), rows_.end(), 0);
  }
  /// log p of the best caption of every image.
  std::vector<double> decode() {
    std::vector<double> best;
    for (const auto& captions : decoder_.decode(case_.weights.view(), rows_, 0)) {
      STEIN_CHECK(std::ssize(captions.front().words) == case_.options.words, "a caption ended early");
      best.push_back(captions.front().log_probability);
    }
    return best;
  }

 private:
  CaptionCase& case_;
  lm::Vocabulary vocabulary_;
  std::vector<std::int64_t> rows_;
  lm::CaptionDecoder decoder_;
};

/// As its own best user writes it in LibTorch: hypotheses of all images are rows of one batch, the best words of each
/// are found first, then the best of an image.
class ReferenceCaptions {
 public:
  explicit ReferenceCaptions(CaptionCase& shared) : options_(shared.options), shared_(shared) {
    images_ = at::from_blob(shared.images.row(0).data(), {shared.options.images, features}, at::kFloat);
    first_image_ = at::arange(options_.images).unsqueeze(1);
  }
  std::vector<double> decode() {
    const c10::InferenceMode no_gradient;
    const std::int64_t images = options_.images, width = options_.beam_width;
    at::Tensor x = weight("embedding.weight").select(0, lm::start_token) +
                   at::linear(images_, weight("feature.weight"), weight("feature.bias"));
    at::Tensor h = at::zeros({images, options_.hidden}), c = h;
    at::Tensor score = at::zeros({images, 1}), words = at::empty({images, 0}, at::kLong);
    for (std::int64_t length = 0;; ++length) {
      std::tie(h, c) = at::lstm_cell(x, {h, c}, weight("recurrent0.weight_ih"), weight("recurrent0.weight_hh"),
                                     weight("recurrent0.bias_ih"), weight("recurrent0.bias_hh"));
      const at::Tensor log_p = at::log_softmax(at::linear(h, weight("output.weight"), weight("output.bias")), -1);
      if (length == options_.words) return best(score + log_p.select(1, lm::end_token).view({images, width}));
      const auto [likely, token] = log_p.topk(width + 1);
      const std::int64_t beams = score.size(1);
      const auto [total, place] = (score.view({-1, 1}) + likely).view({images, -1}).topk(width);
      const at::Tensor parent = (at::floor_divide(place, width + 1) + first_image_ * beams).view({-1});
      const at::Tensor next = token.view({images, -1}).gather(1, place).view({-1});
      score = total;
      h = h.index_select(0, parent), c = c.index_select(0, parent);
      words = at::cat({words.index_select(0, parent), next.unsqueeze(1)}, 1);
      x = weight("embedding.weight").index_select(0, next);
    }
  }

 private:
  at::Tensor weight(const char* name) const {
    const LayoutEntry& entry = *shared_.model.layout().find(name);
    return at::from_blob(shared_.weights.row(0).data() + entry.offset, entry.shape, at::kFloat);
  }
  static std::vector<double> best(const at::Tensor& score) {
    const at::Tensor most = score.amax(1).to(at::kDouble).contiguous();
    return {most.const_data_ptr<double>(), most.const_data_ptr<double>() + most.numel()};
  }

  const CaptionOptions& options_;
  CaptionCase& shared_;
  at::Tensor images_, first_image_;
};

void check_same(const std::vector<double>& ours, const std::vector<double>& reference) {
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (!(std::abs(ours[i] - reference[i]) < 1e-3))
      fail(ErrorKind::numeric, "benchmark captions: log p of the best caption of image {} is {}, the reference's is {}",
           i, ours[i], reference[i]);
}

std::vector<Row> measure_captions(const CaptionOptions& options) {
  CaptionCase shared(options);
  OurCaptions ours(shared);
  ReferenceCaptions reference(shared);
  check_same(ours.decode(), reference.decode());
  const TensorPair pair = measure_tensor_pair([&] { keep(ours.decode()); }, [&] { keep(reference.decode()); },
                                              {.round_seconds = options.round_seconds, .warm_up_seconds = 0.5});
  return {{.name = fmt::format("beam-{}-1x{}", options.beam_width, options.hidden),
           .ours = shared.hypotheses() / pair.seconds.ours,
           .reference = shared.hypotheses() / pair.seconds.reference,
           .unit = "hypotheses/s",
           .better = Better::higher,
           .extra = {{"vocabulary", static_cast<double>(options.vocabulary)},
                     {"images", static_cast<double>(options.images)},
                     {"reference_is", "LibTorch: lstm_cell, linear, log_softmax, topk"},
                     {"reference_threads", static_cast<double>(pair.threads)},
                     {"ratio_to_one_reference_thread", pair.ratio_to_one_thread}}}};
}

[[maybe_unused]] const bool registered = torch_measures().add("captions", Measure::of(measure_captions));

}  // namespace
}  // namespace stein::bench
