#include <stein/core/error.h>
#include <stein/runs/data_checksums.h>

#include <nlohmann/json.hpp>

namespace stein::runs {

void check_data_checksums(const nlohmann::ordered_json& manifest, const std::map<std::string, std::string>& checksums,
                          std::string_view what, std::string_view advice) {
  const nlohmann::ordered_json known = manifest.value("data", nlohmann::ordered_json::object());
  for (const auto& [file, sum] : checksums)
    if (known.contains(file) && known[file] != sum)
      fail(ErrorKind::data, "{} '{}' is not the file that the run began with (SHA-256 {}, was {}): {}", what, file, sum,
           known[file].get<std::string>(), advice);
}

}  // namespace stein::runs
