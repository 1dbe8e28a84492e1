// An input of a fuzzer as files.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stein::test {

/// An input, which stays valid elsewhere, and the files that readers find it in.
class Input {
 public:
  explicit Input(std::string_view text) : text_(text) {}

  std::string_view text() const { return text_; }
  /// The files that the input has one behind the other, at least one, parted by lines "-----".
  std::vector<std::string_view> files() const;
  /// Writes a file of that name, in the place of an earlier one; its path.
  std::filesystem::path write(const std::string& name, std::string_view content) const;
  /// The folder with the files of all inputs, a temporary one: in memory with TMPDIR=/dev/shm.
  static const std::filesystem::path& folder();

 private:
  std::string_view text_;
};

/// Reads an input, and requires of the result what the reader's header promises.
using Feed = std::function<void(const Input&)>;

}  // namespace stein::test
