#include <stein/inference/diagnostics/chain_diagnostics.h>
#include <stein/inference/diagnostics/chain_summary.h>

#include <cmath>

namespace stein::inference {

ChainSummary summarise(std::string name, MatrixView<const double> draws) {
  ChainSummary found{.name = std::move(name),
                     .mean = 0,
                     .deviation = 0,
                     .effective_samples = bulk_effective_sample_size(draws),
                     .r_hat = split_r_hat(draws)};
  const auto count = static_cast<double>(draws.rows * draws.columns);
  for (std::int64_t i = 0; i < draws.rows; ++i)
    for (const double x : draws.row(i)) found.mean += x / count;
  double square = 0;
  for (std::int64_t i = 0; i < draws.rows; ++i)
    for (const double x : draws.row(i)) square += (x - found.mean) * (x - found.mean);
  found.deviation = std::sqrt(square / (count - 1));
  return found;
}

template <class Scalar>
std::vector<ChainSummary> summarise(const CollectedSamples<Scalar>& samples) {
  std::vector<ChainSummary> found;
  for (const LayoutEntry& entry : samples.layout().entries())
    for (std::int64_t q = entry.offset; q < entry.offset + entry.extent(); ++q) {
      const std::vector<double> draws = samples.draws(q);
      found.push_back(summarise(entry.size() == 1 ? entry.name : samples.layout().describe_position(q),
                                {draws.data(), samples.rows(), samples.size()}));
    }
  return found;
}

std::string to_text(const std::vector<ChainSummary>& summaries) {
  std::string text = fmt::format("{:<12} {:>9} {:>9} {:>9} {:>7}\n", "", "mean", "sd", "ESS", "R-hat");
  for (const auto& [name, mean, deviation, effective_samples, r_hat] : summaries)
    text +=
        fmt::format("{:<12} {:>9.3f} {:>9.3f} {:>9.0f} {:>7.3f}\n", name, mean, deviation, effective_samples, r_hat);
  return text;
}

template std::vector<ChainSummary> summarise(const CollectedSamples<float>&);
template std::vector<ChainSummary> summarise(const CollectedSamples<double>&);

}  // namespace stein::inference
