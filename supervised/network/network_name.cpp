#include <stein/supervised/network/network_name.h>

#include <fmt/ranges.h>

namespace stein::supervised {

std::string network_name(const inference::MlpSpec& spec) {
  const std::string hidden = spec.hidden.empty() ? "" : fmt::format("{}-", fmt::join(spec.hidden, "-"));
  return fmt::format("mlp {}-{}{}", spec.inputs, hidden, spec.outputs);
}

}  // namespace stein::supervised
