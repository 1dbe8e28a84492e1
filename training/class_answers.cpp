#include <stein/runs/measured.h>
#include <stein/training/class_answers.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stein::training {

using Json = nlohmann::ordered_json;

std::vector<Json> class_answers(const inference::Predictive& predictive, const std::vector<std::string>& classes) {
  const inference::MatrixView<const double> mean = predictive.mean();
  const std::vector<double> deviation = predictive.deviation(), entropy = predictive.entropy(),
                            information = predictive.mutual_information();
  std::vector<Json> answers;
  for (std::int64_t i = 0; i < mean.rows; ++i) {
    const std::span<const double> row = mean.row(i);
    const auto place = static_cast<std::size_t>(i);
    Json probabilities, deviations;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      probabilities[classes[c]] = runs::rounded(row[c]);
      deviations[classes[c]] = runs::rounded(deviation[place * classes.size() + c]);
    }
    const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    answers.push_back({{"probabilities", std::move(probabilities)},
                       {"deviations", std::move(deviations)},
                       {"class", classes[best]},
                       {"entropy", runs::rounded(entropy[place])},
                       {"mutual_information", runs::rounded(information[place])}});
  }
  return answers;
}

}  // namespace stein::training
