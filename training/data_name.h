// What an option `data` means: a registered name, or a file.
#pragma once

#include <stein/core/registry.h>

#include <filesystem>
#include <string>

namespace stein::training {

/// Whether `data` means a file, there or not: it is no registered name, and has a slash or an ending, or is there.
template <class Entry>
bool means_file(const std::string& data, const Registry<Entry>& registered) {
  std::error_code ignored;
  const std::filesystem::path path = data;
  return !registered.entries().contains(data) &&
         (path.has_parent_path() || path.has_extension() || std::filesystem::exists(path, ignored));
}

/// Whether a file's name says that it is a table: it ends in .csv or .tsv, or in these and .gz, in .npy or
/// .safetensors.
bool means_table(const std::string& data);
/// Whether it says that it has images: …images-idx3-ubyte, or that and .gz, or a batch of CIFAR-10, data_batch_….bin;
/// or a file of another name begins as those of the IDX format do.
bool means_images(const std::string& data);
/// Whether it is called like a batch of CIFAR-10's binary version.
bool means_cifar10(const std::string& data);

}  // namespace stein::training
