#include <stein/core/error.h>
#include <stein/runs/records.h>

#include <sstream>

namespace stein::runs {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void check_count(const char* what, std::size_t count, std::size_t steps) {
  if (count == steps) return;
  fail(ErrorKind::data, "the checkpoint holds {} {} that wait to be recorded, and the steps of {}", count, what, steps);
}

}  // namespace

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

void Records::clear() {
  numbers_.clear();
  lines_.clear();
}

void Records::restore(const Snapshot& snapshot) {
  clear();
  append(snapshot);
}

void Records::append(const Snapshot& snapshot) {
  if (snapshot.contains("unrecorded_steps")) {
    const auto steps = snapshot.get_vector<std::int64_t>("unrecorded_steps");
    const auto values = snapshot.get_vector<double>("unrecorded_values");
    const std::vector<std::string> tags = lines_of(snapshot.get_text("unrecorded_tags"));
    check_count("metrics", values.size(), steps.size());
    check_count("metrics", tags.size(), steps.size());
    for (std::size_t k = 0; k < steps.size(); ++k) numbers_.push_back({steps[k], tags[k], values[k]});
  }
  if (snapshot.contains("unrecorded_line_steps")) {
    const auto steps = snapshot.get_vector<std::int64_t>("unrecorded_line_steps");
    const std::vector<std::string> texts = lines_of(snapshot.get_text("unrecorded_lines"));
    check_count("lines", texts.size(), steps.size());
    for (std::size_t k = 0; k < steps.size(); ++k) lines_.push_back({steps[k], texts[k]});
  }
}

}  // namespace stein::runs
