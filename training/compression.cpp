#include <stein/training/compression.h>

#include <fmt/format.h>

namespace stein::training {
namespace {

/// Deng et al. take steps of 5e-7 on the full log joint of 60,000 images: .03 per datum at batches of 1,000.
const std::map<std::string, std::string> chain_settings{
    {"sampler", "sghmc-sa"}, {"rate_unit", "datum"},   {"step_size", "0.01"}, {"friction", "0.1"},
    {"temperature", "1e-3"}, {"clip_norm", "0"},       {"burn_in", "0.5"},    {"patience", "0"},
    {"rate_decay", "1"},     {"full_rate_epochs", "1"}};

}  // namespace

std::map<std::string, std::string> deep_sparse_prior() {
  return {{"laplace_scale", "1"},    {"gaussian_scale", "0.1"}, {"rate", "1"},
          {"rate_exponent", "0.75"}, {"adapt_sigma", "false"},  {"adapt_slab_share", "false"}};
}

runs::OptionSources compression_of(const runs::Experiment& trained, const std::string& directory, double share) {
  runs::OptionSources sources;
  for (const auto& [title, section] : trained.sections()) {
    if (title.starts_with("Method") || title == "Run") continue;
    for (const Option& option : section.options()) sources.settings.emplace_back(option.name, option.text());
  }
  sources.settings.emplace_back("seeds", trained.options().get("seeds"));
  for (const auto& settings : {chain_settings, deep_sparse_prior()})
    sources.settings.insert(sources.settings.end(), settings.begin(), settings.end());
  sources.settings.emplace_back("from_run", directory);
  sources.settings.emplace_back("pruning.final_share", fmt::format("{}", share));
  return sources;
}

}  // namespace stein::training
