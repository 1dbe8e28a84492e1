#include <stein/core/atomic_file.h>
#include <stein/runs/measured.h>
#include <stein/runs/seed_statistics.h>
#include <stein/supervised/classification/image_attack.h>
#include <stein/supervised/images/fast_gradient_sign.h>
#include <stein/training/classifier_run.h>
#include <stein/training/share_list.h>

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

namespace stein::supervised {
namespace {

using Json = nlohmann::ordered_json;

/// One number a seed, for every size.
using BySize = std::vector<std::vector<double>>;

Json measured_by_size(const BySize& values) {
  Json list = Json::array();
  for (const std::vector<double>& seeds : values) list.push_back(runs::measured(seeds));
  return list;
}

}  // namespace

void ImageAttack::describe(OptionTable& table) {
  table("sizes", sizes_,
        "how far every pixel is moved, a share of the way from black to white; images that are not changed are shown "
        "besides");
  weights_.describe(table);
}

Json ImageAttack::perform_saved(const ImageClassExperiment& experiment, const runs::SavedRun& saved,
                                const std::string& data, const runs::Console& console) {
  const std::unique_ptr<runs::Run> with_data = saved.make_run(data);
  auto& run = dynamic_cast<training::ClassifierRun&>(*with_data);
  std::vector<double> sizes = training::shares_of("sizes", sizes_, {.low = 0, .high = 1, .low_open = true});
  sizes.insert(sizes.begin(), 0);
  BySize error(sizes.size()), entropy(sizes.size()), information(sizes.size()), alone(sizes.size());
  std::int64_t samples = 0;
  console.progress->begin(experiment.name(), "models", static_cast<std::uint64_t>(run.count()));
  for (std::int64_t i = 0; i < run.count(); ++i) {
    training::TrainedNetwork network = experiment.trained_network(saved, run.repetition(i).seed(), weights_.device);
    training::WeightDraws draws = weights_.of(network);
    samples = draws.count();
    FastGradientSign attack(dynamic_cast<ImageRows&>(run.repetition(i).test_rows()), network.model(), sizes);
    const std::vector<training::SampledClasses> averages = attack.against_average(draws);
    const std::vector<double> single = attack.errors_against_each(draws);
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      const inference::Predictive predictive = averages[s].predictive();
      error[s].push_back(averages[s].averaged().error);
      entropy[s].push_back(runs::mean(predictive.entropy()));
      information[s].push_back(runs::mean(predictive.mutual_information()));
      alone[s].push_back(single[s]);
    }
    console.progress->advance(1);
  }
  Json result{{"data", run.facts().data},
              {"rows", run.repetition(0).test_rows().count()},
              {"samples", samples},
              {"sizes", sizes},
              {"error", measured_by_size(error)},
              {"entropy", measured_by_size(entropy)},
              {"mutual_information", measured_by_size(information)},
              {"single_sample", {{"error", measured_by_size(alone)}}}};
  write_file_atomically(saved.directory.file("adversarial.json"), result.dump() + "\n");
  return result;
}

std::string ImageAttack::readable(const Json& result) const {
  const auto samples = result["samples"].get<std::int64_t>();
  std::string text = fmt::format(
      "{}, {} test images, averaged over {} {}\n  change   error     one draw  entropy  mutual information\n",
      result["data"].get<std::string>(), result["rows"].get<std::int64_t>(), samples, samples == 1 ? "draw" : "draws");
  for (std::size_t s = 0; s < result["sizes"].size(); ++s)
    text += fmt::format(
        "  {:<6.3g} {:6.2f} % {:9.2f} % {:9.4f} {:9.4f}\n", result["sizes"][s].get<double>(),
        100 * result["error"][s]["mean"].get<double>(), 100 * result["single_sample"]["error"][s]["mean"].get<double>(),
        result["entropy"][s]["mean"].get<double>(), result["mutual_information"][s]["mean"].get<double>());
  return text + "  (against each: the class that it finds likeliest itself)\n";
}

}  // namespace stein::supervised
