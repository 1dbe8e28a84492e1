#include <stein/runs/measured.h>
#include <stein/supervised/classification/class_notices.h>

#include <fmt/format.h>

#include <algorithm>

namespace stein::supervised {

std::vector<std::string> class_notices(const std::vector<std::string>& classes, std::span<const std::int64_t> labels,
                                       const char* datum) {
  std::vector<std::string> unseen;
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (std::ranges::find(labels, static_cast<std::int64_t>(i)) == labels.end()) unseen.push_back(classes[i]);
  if (unseen.empty()) return {};
  return {fmt::format("classes of which there is no {} of training, and which are never predicted with confidence: {}",
                      datum, runs::few(unseen))};
}

}  // namespace stein::supervised
