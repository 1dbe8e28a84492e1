#include <stein/runs/records.h>

#include <algorithm>
#include <sstream>

namespace stein::runs {

void Records::save(Snapshot& snapshot) const {
  std::vector<std::int64_t> steps, line_steps;
  std::vector<double> values;
  std::string tags, lines;
  for (const Number& number : numbers_) {
    steps.push_back(number.step);
    values.push_back(number.value);
    tags += number.tag + "\n";
  }
  for (const Line& line : lines_) {
    line_steps.push_back(line.step);
    lines += line.text + "\n";
  }
  snapshot.put("unrecorded_steps", steps);
  snapshot.put("unrecorded_values", values);
  snapshot.put_text("unrecorded_tags", tags);
  snapshot.put("unrecorded_line_steps", line_steps);
  snapshot.put_text("unrecorded_lines", lines);
}

void Records::restore(const Snapshot& snapshot) {
  numbers_.clear();
  lines_.clear();
  if (snapshot.contains("unrecorded_steps")) {
    const auto steps = snapshot.get_vector<std::int64_t>("unrecorded_steps");
    const auto values = snapshot.get_vector<double>("unrecorded_values");
    std::istringstream tags(snapshot.get_text("unrecorded_tags"));
    std::string tag;
    for (std::size_t k = 0; k < std::min(steps.size(), values.size()) && std::getline(tags, tag); ++k)
      numbers_.push_back({steps[k], tag, values[k]});
  }
  if (snapshot.contains("unrecorded_line_steps")) {
    const auto steps = snapshot.get_vector<std::int64_t>("unrecorded_line_steps");
    std::istringstream lines(snapshot.get_text("unrecorded_lines"));
    std::string text;
    for (std::size_t k = 0; k < steps.size() && std::getline(lines, text); ++k) lines_.push_back({steps[k], text});
  }
}

}  // namespace stein::runs
