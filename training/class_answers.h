// What a classifier says of new rows, as JSON.
#pragma once

#include <stein/inference/prediction/predictive.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stein::training {

/// For each row {"class", "probabilities": {CLASS: p}, "deviations": {CLASS: sd over draws}, "entropy",
/// "mutual_information"}: what `stein predict` answers. Of equally probable classes the first is named.
std::vector<nlohmann::ordered_json> class_answers(const inference::Predictive& predictive,
                                                  const std::vector<std::string>& classes);

}  // namespace stein::training
