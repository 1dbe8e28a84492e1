#include <stein/training/data_name.h>

#include <algorithm>
#include <array>

namespace stein::training {

bool means_table(const std::string& data) {
  constexpr std::array endings{".csv", ".tsv", ".csv.gz", ".tsv.gz"};
  return std::ranges::any_of(endings, [&](const char* ending) { return data.ends_with(ending); });
}

bool means_images(const std::string& data) {
  return std::filesystem::path(data).filename().string().find("images-idx3") != std::string::npos;
}

}  // namespace stein::training
