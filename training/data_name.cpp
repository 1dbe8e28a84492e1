#include <stein/core/data/array_table.h>
#include <stein/training/data_name.h>

#include <algorithm>
#include <array>

namespace stein::training {

bool means_table(const std::string& data) {
  constexpr std::array endings{".csv", ".tsv", ".csv.gz", ".tsv.gz"};
  return means_arrays(data) || std::ranges::any_of(endings, [&](const char* ending) { return data.ends_with(ending); });
}

bool means_images(const std::string& data) {
  return std::filesystem::path(data).filename().string().find("images-idx3") != std::string::npos ||
         means_cifar10(data);
}

bool means_cifar10(const std::string& data) {
  const std::string name = std::filesystem::path(data).filename().string();
  return name.starts_with("data_batch_") && name.ends_with(".bin");
}

}  // namespace stein::training
