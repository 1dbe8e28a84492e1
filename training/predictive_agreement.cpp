#include <stein/runs/measured.h>
#include <stein/runs/of_each.h>
#include <stein/training/predictive_agreement.h>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stein::training {

using inference::ChainAgreement;
using Json = nlohmann::ordered_json;

void add_agreement(Json& part, const std::vector<std::optional<ChainAgreement>>& seeds, const char* each) {
  if (seeds.empty() || !std::ranges::all_of(seeds, [](const auto& seed) { return seed.has_value(); })) return;
  const auto numbers = [&](double ChainAgreement::*of) {
    return runs::measured(runs::of_each(seeds, [&](const auto& seed) { return *seed.*of; }), each);
  };
  const auto rows = runs::of_each(seeds, [](const auto& seed) { return seed->quantities; });
  part["agreement"] = {{"chains", seeds.front()->chains},
                       {"draws", seeds.front()->draws},
                       {"rows", std::ranges::min(rows)},
                       {"r_hat", numbers(&ChainAgreement::median_r_hat)},
                       {"worst_r_hat", numbers(&ChainAgreement::worst_r_hat)},
                       {"effective_samples", numbers(&ChainAgreement::median_effective_samples)},
                       {"least_effective_samples", numbers(&ChainAgreement::least_effective_samples)}};
}

std::string agreement_line(const Json& part) {
  if (!part.contains("agreement")) return "";
  const Json& agreement = part["agreement"];
  std::string lines = runs::summary_line(
      "  R-hat",
      fmt::format("{} of the median row, {} of the worst of {}; {} and {} effective samples of {} x {}",
                  runs::text(agreement["r_hat"], "{:.3f}"), runs::text(agreement["worst_r_hat"], "{:.3f}"),
                  agreement["rows"].get<std::int64_t>(), runs::text(agreement["effective_samples"], "{:.0f}"),
                  runs::text(agreement["least_effective_samples"], "{:.0f}"), agreement["chains"].get<std::int64_t>(),
                  agreement["draws"].get<std::int64_t>()));
  constexpr double agreed = 1.1;  // Gelman et al. 2013, section 11.5
  if (agreement["worst_r_hat"]["mean"].is_number() && agreement["worst_r_hat"]["mean"].get<double>() > agreed)
    lines += runs::summary_line("", "above 1.1 averages still depend on where the chains began: take more epochs");
  return lines;
}

}  // namespace stein::training
