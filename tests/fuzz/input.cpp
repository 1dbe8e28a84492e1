#include "fuzz/input.h"

#include <fstream>

#include "core/temporary_directory.h"
#include "fuzz/require.h"

namespace stein::test {

namespace fs = std::filesystem;

std::vector<std::string_view> Input::files() const {
  constexpr std::string_view parting = "-----\n";
  std::vector<std::string_view> files;
  std::string_view rest = text_;
  for (std::size_t end = 0; (end = rest.find(parting)) != std::string_view::npos;) {
    files.push_back(rest.substr(0, end));
    rest.remove_prefix(end + parting.size());
  }
  files.push_back(rest);
  return files;
}

fs::path Input::write(const std::string& name, std::string_view content) const {
  fs::path path = folder() / name;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  require(file.good(), "the temporary folder can be written to");
  return path;
}

const fs::path& Input::folder() {
  static const TemporaryDirectory folder;
  return folder.path();
}

}  // namespace stein::test
