// A directory for one test case, removed with everything in it when the test ends.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace stein::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "stein-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    remove(path_);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  /// std::filesystem::remove_all, of which libtorch.so exports one that calls a null pointer: a program that links
  /// LibTorch before the standard library gets that one.
  static void remove(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(std::filesystem::symlink_status(path, ignored)))
      for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) remove(entry.path());
    std::filesystem::remove(path, ignored);
  }

  std::filesystem::path path_;
};

}  // namespace stein::test
