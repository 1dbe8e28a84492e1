#include <stein/core/error.h>
#include <stein/inference/storage/device_memory.h>
#include <stein/runs/run_kind.h>
#include <stein/training/network_experiment.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

namespace stein::training {
namespace {

/// A run whose weights others begin with, read once for all seeds.
class SourceRun {
 public:
  explicit SourceRun(const std::string& folder)
      : directory_(RunDirectory::open(folder)),
        run_(runs::read_saved_run(directory_)),
        experiment_(dynamic_cast<const NetworkExperiment*>(run_.experiment.get())) {
    STEIN_CHECK(experiment_ != nullptr, "'{}' holds a run of `stein {}`, which trains no network to begin with", folder,
                run_.experiment->kind().subcommand);
  }
  /// What it ended with.
  StartingWeights weights(std::uint64_t seed) const {
    TrainedNetwork network = experiment_->trained_network(run_, seed, "cpu");
    StartingWeights start = starting_weights(network.weights());
    start.meaning = network.meaning();
    return start;
  }

 private:
  RunDirectory directory_;
  runs::SavedRun run_;
  const NetworkExperiment* experiment_;
};

}  // namespace

std::vector<std::string> methods_for(NetworkInputs inputs) {
  std::vector<std::string> names;
  for (const auto& [name, method] : weight_methods().entries())
    if (inputs == NetworkInputs::rows || !(method.defaults.hides_inputs || method.defaults.takes_all_data))
      names.push_back(name);
  return names;
}

NetworkExperiment::NetworkExperiment(const runs::RunKind& kind, const runs::OptionSources& sources,
                                     const Published& published, std::int64_t checkpoint_every, std::string seeds)
    : Experiment(kind, {.steps = 0,
                        .checkpoint_every = checkpoint_every,
                        .may_end = true,
                        .note = ", all epochs, which is what it is for",
                        .seeds = std::move(seeds)}),
      published_(published) {
  const PublishedPreset* const preset = named_preset(published.presets, sources, published.what);
  method_ = sources.look_ahead("sampler", preset != nullptr ? preset->sampler : std::string(published.method));
  method_options_ = weight_methods().at(method_).defaults;
}

std::string NetworkExperiment::named_data(const runs::OptionSources& sources, const Published& published,
                                          const std::string& otherwise) {
  const PublishedPreset* const preset = named_preset(published.presets, sources, published.what);
  return sources.look_ahead("data", preset != nullptr && !preset->data.empty() ? preset->data : otherwise);
}

void NetworkExperiment::add_sampler(NetworkInputs inputs) {
  const std::vector<std::string> methods = methods_for(inputs);
  STEIN_CHECK(std::ranges::find(methods, method_) != methods.end(),
              "sampler {} is for rows of numbers, and this network reads words: one of {}", method_,
              fmt::join(methods, ", "));
  add_run([this, methods](OptionTable& table) {
    table("sampler", method_, fmt::format("how weights are found: {}", fmt::join(methods, ", ")));
    table("device", device_,
          "where it is trained: cpu, cuda (the first GPU; of several ranks on a machine each its own) or cuda:INDEX")
        .in_older_runs("cpu");
    table(
        "from_run", from_run_,
        "folder of a run of the same network with the same seeds: training begins with the weights that it ended with; "
        "empty: with new ones")
        .in_older_runs("");
  });
}

void NetworkExperiment::read_with_method(const runs::OptionSources& sources, std::string& data, bool is_file) {
  const PublishedPreset* const preset = named_preset(published_.presets, sources, published_.what);
  STEIN_CHECK(preset == nullptr || !preset->data.empty() || is_file,
              "the preset '{}' is for a file of your own, expected --data ./FILE, got {}", preset->name, data);
  add_part("Method " + method_, [this](OptionTable& table) { method_options_.describe(table); });
  for (const PublishedPreset& each : published_.presets)
    if ((each.data == data || (each.data.empty() && is_file)) && each.sampler == method_)
      offer_preset({.name = each.name, .description = each.source, .settings = each.settings});
  if (method_options_.takes_all_data) tune_for_half(sources.look_ahead("epochs", ""));
  read(sources);
  static_cast<void>(inference::parse_device(device_));
  begins_ = !sources.of_run;
  if (!from_run_.empty() && begins_) {  // one that goes on has its weights
    STEIN_CHECK(method_options_.kind != MethodKind::ensemble,
                "option 'from_run' gives all particles of {} the same weights, and particles that begin alike never "
                "part: name a chain or an optimizer as sampler",
                method_);
    static_cast<void>(RunDirectory::open(from_run_));
    from_run_ = std::filesystem::absolute(from_run_).lexically_normal().string();
  }
  if (is_file) data = std::filesystem::absolute(data).lexically_normal().string();
}

/// Trajectories, of which an epoch has one, tune for the first half of all, unless it is said for how long.
void NetworkExperiment::tune_for_half(const std::string& epochs) {
  std::int64_t count = 0;
  const auto read = std::from_chars(epochs.data(), epochs.data() + epochs.size(), count);
  if (read.ec != std::errc{} || read.ptr != epochs.data() + epochs.size()) return;  // not given, or an error later
  OptionTable table;
  method_options_.sampler.describe(table);
  table.set("warm_up", fmt::format("{}", std::max<std::int64_t>(0, count / 2)));
}

inference::Device NetworkExperiment::device() const {
  const inference::Device device = inference::own_device(device_);
  inference::check_present(device);
  return device;
}

void NetworkExperiment::check_dropout(bool wanted) const {
  STEIN_CHECK(!wanted || (options().contains("dropout") && options().get("dropout") != "0"),
              "option 'dropout' asks for draws of the network's dropout, and the run's network has none (dropout=0)");
}

TrainedNetwork NetworkExperiment::trained_network(const runs::SavedRun& run, std::uint64_t seed,
                                                  const std::string& device) const {
  const inference::Device place = inference::own_device(device.empty() ? device_ : device);
  inference::check_present(place);
  return {run, seed, method_options_, [&](const Snapshot& meaning) { return make_model(meaning, place); }};
}

std::unique_ptr<runs::Run> NetworkExperiment::make_run(const std::string&) const {
  std::unique_ptr<EpochRun> run = make_trainings();
  if (from_run_.empty()) return run;
  const auto source = std::make_shared<std::unique_ptr<SourceRun>>();  // read by the first seed that asks
  for (std::int64_t i = 0; i < run->count(); ++i)
    run->trainer(i).begin_with([source, from = from_run_, seed = run->repetition(i).seed()] {
      if (*source == nullptr) *source = std::make_unique<SourceRun>(from);
      return (*source)->weights(seed);
    });
  for (std::int64_t i = 0; begins_ && i < run->count(); ++i) run->trainer(i).begin();  // before a folder is made
  return run;
}

std::string NetworkExperiment::name() const {
  const std::filesystem::path path = data();
  return fmt::format("{}/{}", path.has_parent_path() ? path.stem().string() : data(), method_);
}

void add_method_parts(std::vector<runs::Part>& parts, std::span<const PublishedPreset> presets, NetworkInputs inputs) {
  for (const std::string& name : methods_for(inputs)) {
    const WeightMethod& method = weight_methods().at(name);
    WeightMethodOptions options = method.defaults;
    parts.push_back(runs::make_part("method", name, method.description, OptionTable::of(options)));
  }
  parts.push_back(published_part(presets));
}

}  // namespace stein::training
