#include <stein/core/data/manifest.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <system_error>

#include <stein/core/checksum.h>
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/core/nearest_name.h>

namespace stein {
namespace {

namespace fs = std::filesystem;

bool holds(const fs::path& folder, const DataSet& set) {
  return std::ranges::all_of(set.files, [&](const DataFile& file) {
    std::error_code ignored;
    return fs::is_regular_file(folder / file.name, ignored);
  });
}

std::optional<fs::path> environment_path(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return fs::path(value);
}

std::optional<fs::path> cache_folder() {
  if (const auto cache = environment_path("XDG_CACHE_HOME")) return *cache / "stein";
  if (const auto home = environment_path("HOME")) return *home / ".cache" / "stein";
  return std::nullopt;
}

/// Many repetitions look for the same data: one warning is enough.
void warn_of_missing_environment_folder() {
  static std::once_flag warned;
  const auto folder = environment_path("STEIN_DATA");
  std::error_code ignored;
  if (!folder || fs::is_directory(*folder, ignored)) return;
  std::call_once(warned, [&] { log_warning("$STEIN_DATA names '{}', which is no folder", folder->string()); });
}

/// The folder that holds the set in `place`, in a subfolder of its name or directly.
std::optional<fs::path> find_in(const fs::path& place, const DataSet& set) {
  for (const fs::path& candidate : {place / set.name, place})
    if (holds(candidate, set)) return candidate;
  return std::nullopt;
}

bool is_intact(const DataSet& set, const fs::path& folder) {
  try {
    check_data_set(set, folder);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// What to do about a damaged set in `places[damaged]`.
std::string remedy(const DataSet& set, const std::vector<fs::path>& places, std::size_t damaged) {
  for (std::size_t i = damaged + 1; i < places.size(); ++i) {
    const auto other = find_in(places[i], set);
    if (other && is_intact(set, *other))
      return fmt::format("'{}' takes precedence over '{}', which holds the right files: remove the damaged one",
                         places[damaged].string(), other->string());
  }
  return fmt::format("`stein data fetch {} --data '{}'` downloads the right one", set.name, places[damaged].string());
}

}  // namespace

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> sets{
      {.name = "mushroom",
       .description = "UCI Mushroom: 8,124 mushrooms, 22 categorical features, edible or poisonous",
       .licence = "CC BY 4.0, as stated by the UCI Machine Learning Repository",
       .citation = "Mushroom (1981). UCI Machine Learning Repository, https://doi.org/10.24432/C5959T",
       .files = {{.name = "agaricus-lepiota.data",
                  .url = "https://archive.ics.uci.edu/ml/machine-learning-databases/mushroom/agaricus-lepiota.data",
                  .bytes = 373704,
                  .sha256 = "e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e"}}},
  };
  return sets;
}

const DataSet& data_set(std::string_view name) {
  std::vector<std::string> names;
  for (const DataSet& set : data_sets()) {
    if (set.name == name) return set;
    names.push_back(set.name);
  }
  fail(ErrorKind::usage, "there is no data set '{}'.{}", name, suggestion(name, names));
}

fs::path user_data_folder() {
  const auto folder = cache_folder();
  STEIN_CHECK(folder.has_value(), "no place for data: set XDG_CACHE_HOME or HOME, or name a folder with --data");
  return *folder;
}

std::vector<fs::path> data_folders(const fs::path& folder) {
  if (!folder.empty()) return {folder};
  std::vector<fs::path> folders;
  if (const auto from_environment = environment_path("STEIN_DATA")) folders.push_back(*from_environment);
  if (const auto cache = cache_folder()) folders.push_back(*cache);
  return folders;
}

std::optional<fs::path> find_data_set(std::string_view name, const fs::path& folder, Verify verify) {
  const DataSet& set = data_set(name);
  std::error_code ignored;
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    fail(ErrorKind::data, "the data folder '{}' does not exist", folder.string());
  }
  if (folder.empty()) warn_of_missing_environment_folder();
  const std::vector<fs::path> places = data_folders(folder);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto found = find_in(places[i], set);
    if (!found) continue;
    try {
      if (verify == Verify::checksum) check_data_set(set, *found);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      fail(ErrorKind::data, "{}; {}", error.what(), remedy(set, places, i));
    }
    return found;
  }
  return std::nullopt;
}

void check_data_set(const DataSet& set, const fs::path& folder) {
  for (const DataFile& file : set.files) {
    const fs::path path = folder / file.name;
    std::error_code error;
    const std::uint64_t bytes = fs::file_size(path, error);
    if (error) fail(ErrorKind::data, "'{}' of data set {} is missing", path.string(), set.name);
    if (bytes != file.bytes) {
      fail(ErrorKind::data, "'{}' is not the file of data set {}: expected {} bytes, found {}", path.string(), set.name,
           file.bytes, bytes);
    }
    const std::string sum = sha256_file(path);
    if (sum != file.sha256) {
      fail(ErrorKind::data, "'{}' is not the file of data set {}: expected SHA-256 {}, found {}", path.string(),
           set.name, file.sha256, sum);
    }
  }
}

}  // namespace stein
