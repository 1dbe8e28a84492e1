#include <stein/core/error.h>
#include <stein/runs/measured.h>
#include <stein/supervised/classification/image_class_prediction.h>
#include <stein/training/answer_lines.h>
#include <stein/training/class_answers.h>
#include <stein/training/row_classifier.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

namespace stein::supervised {
namespace {

using Json = nlohmann::ordered_json;

/// Images that are classified together, by every draw of the weights in turn.
constexpr std::int64_t images_together = 4096;

}  // namespace

void ImageClassPrediction::describe(OptionTable& table) {
  table("images", images_,
        "an IDX file of images or a batch of CIFAR-10 (….bin), of the size that the run's have; labels are not read");
  network_.describe(table);
}

Json ImageClassPrediction::perform_saved(const ImageClassExperiment& experiment, const runs::SavedRun& saved,
                                         const std::string&, const runs::Console& console) {
  STEIN_CHECK(!images_.empty(), "expected --images FILE, an IDX file of images or a batch of CIFAR-10");
  const auto set = std::make_shared<const ImageSet>(read_unlabelled_images(images_));
  training::TrainedNetwork network = network_.of(experiment, saved);
  training::WeightDraws draws = network_.draws_of(network);
  const ImageClassExperiment::Meaning meaning = ImageClassExperiment::Meaning::saved_in(network.meaning());
  meaning.check_shape(*set);
  std::int64_t done = 0;
  while (done < set->count() && !console.stop.stop_requested()) {
    std::vector<std::int64_t> images(static_cast<std::size_t>(std::min(images_together, set->count() - done)));
    std::iota(images.begin(), images.end(), done);
    ImageRows rows(set, std::move(images), meaning.scale, Augmentation{});
    const training::SampledClasses said = training::RowClassifier(rows).classify(network.model(), draws);
    std::vector<Json> lines;
    for (const Json& answer : training::class_answers(said.predictive(), meaning.classes))
      lines.emplace_back(Json{{"image", done++}}).update(answer);
    training::write_lines(lines, console.out);
  }
  return {{"images", done}};
}

std::string ImageClassPrediction::readable(const Json& result) const {
  return runs::counted(result["images"].get<std::int64_t>(), "image") + " predicted\n";
}

}  // namespace stein::supervised
