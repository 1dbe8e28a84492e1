#include <stein/core/error.h>
#include <stein/core/nearest_name.h>
#include <stein/inference/layout.h>

#include <fmt/ranges.h>
#include <algorithm>
#include <functional>
#include <numeric>

namespace stein::inference {

std::int64_t LayoutEntry::rows() const {
  return std::accumulate(shape.begin(), shape.end() - 1, std::int64_t{1}, std::multiplies<>());
}

const LayoutEntry& Layout::add(std::string name, std::vector<std::int64_t> shape, Role role, std::int64_t layer,
                               std::int64_t row_stride, std::int64_t fan_in, std::int64_t uses) {
  STEIN_CHECK(find(name) == nullptr, "layout: the name '{}' is taken", name);
  STEIN_CHECK(!shape.empty() && std::ranges::all_of(shape, [](std::int64_t d) { return d >= 1; }),
              "layout: every dimension of '{}' must be at least 1", name);
  const std::int64_t columns = shape.back();
  STEIN_CHECK(row_stride == 0 || row_stride >= columns, "layout: row stride {} of '{}' is shorter than its {} columns",
              row_stride, name, columns);
  entries_.push_back({.name = std::move(name),
                      .shape = std::move(shape),
                      .role = role,
                      .layer = layer,
                      .offset = size_,
                      .row_stride = row_stride == 0 ? columns : row_stride,
                      .fan_in = fan_in,
                      .uses = uses});
  size_ += entries_.back().extent();
  return entries_.back();
}

const LayoutEntry& Layout::add_buffer(std::string name, std::vector<std::int64_t> shape) {
  STEIN_CHECK(!shape.empty(), "layout: buffer '{}' needs a shape", name);
  const std::int64_t columns = shape.back();
  buffers_.push_back(
      {.name = std::move(name), .shape = std::move(shape), .offset = buffer_size_, .row_stride = columns});
  buffer_size_ += buffers_.back().size();
  return buffers_.back();
}

std::int64_t Layout::coordinate_count() const {
  return std::accumulate(entries_.begin(), entries_.end(), std::int64_t{0},
                         [](std::int64_t sum, const LayoutEntry& entry) { return sum + entry.size(); });
}

const LayoutEntry* Layout::find(std::string_view name) const {
  const auto place = std::ranges::find(entries_, name, &LayoutEntry::name);
  return place == entries_.end() ? nullptr : &*place;
}

const LayoutEntry& Layout::at(std::string_view name) const {
  if (const LayoutEntry* entry = find(name)) return *entry;
  std::vector<std::string> names;
  for (const LayoutEntry& entry : entries_) names.push_back(entry.name);
  fail(ErrorKind::usage, "layout: no parameter '{}'.{}", name, suggestion(name, names));
}

std::string Layout::describe_position(std::int64_t index) const {
  for (const LayoutEntry& entry : entries_) {
    const std::int64_t inside = index - entry.offset;
    if (inside < 0 || inside >= entry.extent()) continue;
    const std::int64_t row = inside / entry.row_stride, column = inside % entry.row_stride;
    if (entry.shape.size() == 1) return fmt::format("{}[{}]", entry.name, column);
    return fmt::format("{}[{}, {}]", entry.name, row, column);
  }
  return fmt::format("position {}", index);
}

std::string Layout::description() const {
  std::string text;
  for (const LayoutEntry& entry : entries_) text += fmt::format("{} [{}]\n", entry.name, fmt::join(entry.shape, ", "));
  return text;
}

void Layout::check_description(std::string_view saved) const {
  const std::string own = description();
  const auto line = [](std::string_view text) { return text.substr(0, text.find('\n')); };
  std::string_view rest = own;
  while (!saved.empty() || !rest.empty()) {
    const std::string_view found = line(saved), expected = line(rest);
    if (found != expected)
      fail(ErrorKind::data, "the checkpoint has {} where {} is expected",
           found.empty() ? "no further parameter" : found, expected.empty() ? "no further parameter" : expected);
    saved.remove_prefix(std::min(saved.size(), found.size() + 1));
    rest.remove_prefix(std::min(rest.size(), expected.size() + 1));
  }
}

}  // namespace stein::inference
