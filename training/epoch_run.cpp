#include <stein/runs/data_checksums.h>
#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/runs/seed_statistics.h>
#include <stein/training/epoch_run.h>
#include <stein/training/network_sparsity.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

namespace stein::training {

using Json = nlohmann::ordered_json;

std::filesystem::path EpochRun::sample_folder(const RunDirectory& directory, std::uint64_t seed) {
  return directory.file("samples") / fmt::format("seed-{}", seed);
}

void EpochRun::open_files(const RunDirectory& directory, std::int64_t i) {
  trainer(i).begin();
  trainer(i).store_samples_in(sample_folder(directory, repetition(i).seed()));
}

void EpochRun::check_manifest(const Json& manifest) const {
  runs::check_data_checksums(manifest, data_checksums(), "the data", "begin a new run");
}

double EpochRun::training_seconds() const {
  double sum = earlier_seconds_;
  for (std::int64_t i = 0; i < count(); ++i) sum += trainer(i).training_seconds();
  return sum;
}

Json EpochRun::cost() const {
  return {{"training_seconds", training_seconds()}};
}

void EpochRun::add_cost(const Json& earlier) {
  earlier_seconds_ += earlier.value("training_seconds", 0.0);
}

double EpochRun::data_per_second() const {
  double data = 0;
  for (std::int64_t i = 0; i < count(); ++i) data += static_cast<double>(trainer(i).steps_done());
  return data / training_seconds();
}

Json EpochRun::temperatures() const {
  Json layers = Json::array();
  for (const auto& reading : trainer(0).weights().temperatures())
    layers.push_back({{"layer", reading.name},
                      {"temperature", runs::number(reading.mean)},
                      {"interval", {runs::number(reading.low), runs::number(reading.high)}}});
  return layers;
}

void EpochRun::describe_weights(Json& summary) {
  const MethodKind kind = trainer(0).weights().kind();
  if (kind == MethodKind::chain) summary["temperature"] = trainer(0).weights().temperature();
  if (const Json layers = temperatures(); !layers.empty()) summary["temperatures"] = layers;
  describe_sparsity(summary);
  if (kind != MethodKind::variational) return;
  std::vector<double> divergence;
  for (std::int64_t i = 0; i < count(); ++i) divergence.push_back(trainer(i).divergence());
  summary["divergence"] = runs::measured(divergence);
}

void EpochRun::describe_sparsity(Json& summary) {
  if (trainer(0).weights().sparse_layers().empty()) return;
  std::vector<NetworkSparsity> found;
  for (std::int64_t i = 0; i < count(); ++i) found.push_back(sparsity_of(trainer(i).weights()));
  const auto mean = [&](const auto& value) {
    const auto number = [&](const NetworkSparsity& each) { return static_cast<double>(std::invoke(value, each)); };
    return runs::rounded(runs::mean(runs::of_each(found, number)));
  };
  summary["sparsity"] = mean(&NetworkSparsity::sparsity);
  summary["parameters_left"] = mean(&NetworkSparsity::parameters_left);
  summary["operations"] = found[0].operations();
  summary["operations_left"] = mean(&NetworkSparsity::operations_left);
  summary["bytes"] = found[0].bytes();
  summary["bytes_left"] = mean(&NetworkSparsity::bytes_left);
  summary["sigma"] = runs::rounded(found[0].sigma);
  for (const LayerSparsity& layer : found[0].layers)
    summary["layers"].push_back({{"layer", layer.name},
                                 {"weights", layer.weights},
                                 {"left", layer.left},
                                 {"slab_share", runs::rounded(layer.slab_share)},
                                 {"slab_probabilities", runs::of_each(layer.slab_probabilities, runs::rounded)},
                                 {"operations", layer.operations()},
                                 {"operations_left", layer.operations_left()}});
}

std::optional<std::string> EpochRun::chance_warning(const std::vector<double>& losses, double outcomes,
                                                    const char* datum) {
  const auto lost = [&](double loss) { return !(loss <= std::log(outcomes)); };
  const auto worse = std::ranges::count_if(losses, lost);
  if (worse == 0) return std::nullopt;
  return fmt::format(
      "{} of {} lose more than equal chances for all {:g} outcomes do ({:.3g} nats a {}, here {:.3g}): "
      "nothing was learned; another step size, of a chain a lower temperature, or more epochs may help",
      worse, runs::counted(std::ssize(losses), "model"), outcomes, std::log(outcomes), datum,
      *std::ranges::find_if(losses, lost));
}

std::vector<std::string> EpochRun::chain_notices(const char* datum) const {
  const EpochTrainer& first = trainer(0);
  if (first.weights().kind() != MethodKind::chain) return {};
  std::vector<std::string> found;
  if (const auto notice = noise_notice(datum)) found.push_back(*notice);
  if (first.planned_samples() == 1)
    found.emplace_back(
        "the chain gives one sample only, and nothing to average: more epochs, a shorter burn_in or more "
        "samples_per_epoch give several");
  if (first.planned_to_store() == 0)
    found.emplace_back("stored_samples=0: what is evaluated or predicted later is by the weights at the end alone");
  return found;
}

std::optional<std::string> EpochRun::noise_notice(const char* datum) const {
  const WeightSampler& weights = trainer(0).weights();
  if (weights.scales_all_gradients()) return std::nullopt;
  const double weights_of_datum =
      static_cast<double>(weights.parameter_count()) / static_cast<double>(trainer(0).epoch().data);
  const double loss = weights.temperature() * weights_of_datum / 2;
  constexpr double small_loss = 0.05;
  if (!(loss > 2 * small_loss)) return std::nullopt;
  return fmt::format(
      "at temperature {:g} a sample loses about T · weights/(2N) = {:.2g} nats a {} to its own noise: there are {:.2g} "
      "weights for every {}; it loses {:g} at a temperature of {:.1g}",
      weights.temperature(), loss, datum, weights_of_datum, datum, small_loss, 2 * small_loss / weights_of_datum);
}

}  // namespace stein::training
