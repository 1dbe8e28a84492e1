#include <stein/core/error.h>
#include <stein/supervised/classification/class_names.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace stein::supervised {

using Json = nlohmann::ordered_json;

void save_class_names(const std::vector<std::string>& classes, Snapshot& snapshot) {
  snapshot.put_text("classes", Json(classes).dump());
}

std::vector<std::string> saved_class_names(const Snapshot& snapshot) {
  const Json classes = Json::parse(snapshot.get_text("classes"), nullptr, /*allow_exceptions=*/false);
  const bool texts =
      classes.is_array() && std::ranges::all_of(classes, [](const Json& name) { return name.is_string(); });
  if (!texts) fail(ErrorKind::data, "the classes of the checkpoint cannot be read");
  return classes.get<std::vector<std::string>>();
}

}  // namespace stein::supervised
