// A method of training by name, with some of its options set.
#pragma once

#include <stein/training/weight_method.h>

#include <map>
#include <string>
#include <vector>

namespace stein::test {

using Settings = std::map<std::string, std::string>;

/// The method `name`, its rates those of the full log joint and its gradients not clipped, unless `settings` say
/// otherwise. Throws Error(usage) for an option that it does not have.
inline training::WeightMethodOptions method_with(const std::string& name, const Settings& settings) {
  training::WeightMethodOptions method = training::weight_methods().at(name).defaults;
  method.rate_unit = training::RateUnit::joint;
  OptionTable table = OptionTable::of(method);
  if (table.contains("clip_norm")) table.set("clip_norm", "0");
  for (const auto& [key, value] : settings) table.set(key, value);
  return method;
}

}  // namespace stein::test
