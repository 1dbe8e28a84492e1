#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/core/error.h>
#include <stein/runs/json_file.h>
#include <stein/runs/result_checksums.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace stein::runs {

void write_result_checksums(const RunDirectory& directory, const std::vector<std::string>& files) {
  nlohmann::ordered_json checksums = nlohmann::ordered_json::object();
  const auto add = [&](const std::filesystem::path& path) {
    if (std::filesystem::exists(path)) checksums[path.filename().string()] = sha256_file(path);
  };
  add(directory.metrics());
  for (const std::string& file : files) add(directory.file(file));
  write_file_atomically(directory.file(checksums_file), checksums.dump(2) + "\n");
}

void check_result(const RunDirectory& directory, std::string_view file, std::string_view content) {
  const std::filesystem::path path = directory.file(checksums_file);
  if (!std::filesystem::exists(path)) return;
  const nlohmann::ordered_json checksums = read_json_object(path);
  const auto written = checksums.find(file);
  if (written == checksums.end() || *written == sha256(content)) return;
  fail(ErrorKind::data, "'{}' is not as it was written: its checksum is another than that in '{}'",
       directory.file(file).string(), path.string());
}

}  // namespace stein::runs
