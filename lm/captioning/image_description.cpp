#include <stein/core/error.h>
#include <stein/lm/captioning/caption_decoder.h>
#include <stein/lm/captioning/caption_examples.h>
#include <stein/lm/captioning/image_description.h>
#include <stein/lm/captions/image_features.h>
#include <stein/runs/measured.h>
#include <stein/training/answer_lines.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// Images that are described together.
constexpr std::int64_t most_images = 64;

/// What each row is called: the ids in a file, or their numbers.
Json names_of(const std::filesystem::path& ids, std::int64_t rows, const std::filesystem::path& features) {
  Json names = Json::array();
  if (ids.empty()) {
    for (std::int64_t row = 0; row < rows; ++row) names.push_back(row);
    return names;
  }
  for (std::string& id : read_image_ids(ids)) names.push_back(std::move(id));
  if (std::ssize(names) != rows)
    fail(ErrorKind::data, "'{}' has {} ids, '{}' features of {} images", ids.string(), names.size(), features.string(),
         rows);
  return names;
}

}  // namespace

void ImageDescription::describe(OptionTable& table) {
  table("features", features_,
        "a .npy or .safetensors file with a row of numbers for each image, as wide as the run's");
  table("ids", ids_, "what the images are called: a .txt or .json file with an id of each row; empty: their numbers");
  network_.describe(table);
  decoding_.describe(table);
}

Json ImageDescription::perform_saved(const CaptionExperiment& experiment, const runs::SavedRun& saved,
                                     const std::string&, const runs::Console& console) {
  STEIN_CHECK(!features_.empty(), "set `features`: the file with the numbers of the images that are to be described");
  training::TrainedNetwork network = network_.of(experiment, saved);
  const auto width = network.meaning().get_scalar<std::int64_t>("features");
  STEIN_CHECK(width > 0, "the run learned captions without images: it can describe none");
  const inference::Matrix<float> features = read_image_features(features_);
  check_feature_width(features_, features.columns(), width);
  const Json names = names_of(ids_, features.rows(), features_);
  const Vocabulary vocabulary = saved_vocabulary(network.meaning());
  training::WeightDraws draws = network_.draws_of(network);
  const inference::Matrix<float> weights = draws.all();
  const CaptionDecoder decoder(network.model(), experiment.network(network.meaning()), vocabulary, features.view(),
                               decoding_.of(experiment.training().decoding));
  std::int64_t described = 0;
  while (described < features.rows() && !console.stop.stop_requested()) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(std::min(most_images, features.rows() - described)));
    std::iota(rows.begin(), rows.end(), described);
    const auto decoded = decoder.decode(weights.view(), rows, static_cast<std::uint64_t>(network_.draw_seed));
    const std::vector<DecodedCaption> best = best_captions(decoded);
    const auto sure = decoder.certainty(weights.view(), rows, best);
    std::vector<Json> lines;
    for (std::size_t i = 0; i < rows.size(); ++i, ++described) {
      Json& line = lines.emplace_back(Json{{"image", names[static_cast<std::size_t>(described)]},
                                           {"caption", caption_of(best[i].words, vocabulary)},
                                           {"log_probability", runs::rounded(best[i].log_probability)},
                                           {"words", sure_words_json(sure[i], vocabulary)},
                                           {"others", Json::array()}});
      for (std::size_t k = 1; k < decoded[i].size(); ++k)
        line["others"].push_back({{"caption", caption_of(decoded[i][k].words, vocabulary)},
                                  {"log_probability", runs::rounded(decoded[i][k].log_probability)}});
    }
    training::write_lines(lines, console.out);
  }
  return {{"images", described}};
}

std::string ImageDescription::readable(const Json& result) const {
  return fmt::format("{} described\n", runs::counted(result["images"].get<std::int64_t>(), "image"));
}

}  // namespace stein::lm
