#include <stein/core/data/array_table.h>
#include <stein/training/data_name.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace stein::training {
namespace {

/// Whether a file begins with what the IDX format says of images or labels: bytes, in three dimensions or one.
bool begins_as_idx(const std::string& data) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(data, ignored)) return false;  // what is read of a pipe is gone
  std::array<char, 4> begin{};
  std::ifstream file(data, std::ios::binary);
  return file.read(begin.data(), begin.size()) && begin[0] == 0 && begin[1] == 0 && begin[2] == 8 &&
         (begin[3] == 1 || begin[3] == 3);
}

}  // namespace

bool means_table(const std::string& data) {
  constexpr std::array endings{".csv", ".tsv", ".csv.gz", ".tsv.gz"};
  return means_arrays(data) || std::ranges::any_of(endings, [&](const char* ending) { return data.ends_with(ending); });
}

bool means_images(const std::string& data) {
  if (begins_as_idx(data)) return true;
  return std::filesystem::path(data).filename().string().find("images-idx3") != std::string::npos ||
         means_cifar10(data);
}

bool means_cifar10(const std::string& data) {
  const std::string name = std::filesystem::path(data).filename().string();
  return name.starts_with("data_batch_") && name.ends_with(".bin");
}

}  // namespace stein::training
