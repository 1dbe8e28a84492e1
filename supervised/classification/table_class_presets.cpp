#include <stein/supervised/classification/table_class_presets.h>

#include <map>
#include <string>

namespace stein::supervised {
namespace {

using training::joined;
using training::PublishedPreset;
using Settings = std::map<std::string, std::string>;

std::vector<PublishedPreset> make_table_class_presets() {
  constexpr const char* source =
      "Zhang et al. 2018, section 5, after Liu & Wang 2016: logistic regression on Covertype (here its first 15,120 "
      "rows), 20 particles";
  const Settings all{
      {"hidden", "none"},   {"particles", "20"},       {"step_size", "0.001"}, {"learn_weight_precision", "true"},
      {"batch_size", "50"}, {"validation_share", "0"}, {"test_share", "0.2"}};
  return {
      {"covertype-svgd", source, "covertype-15120", "svgd", all},
      {"covertype-s2vgd", source, "covertype-15120", "s2vgd", joined(all, {{"learn_reflector_precision", "true"}})}};
}

}  // namespace

const std::vector<PublishedPreset>& table_class_presets() {
  static const std::vector<PublishedPreset> all = make_table_class_presets();
  return all;
}

}  // namespace stein::supervised
