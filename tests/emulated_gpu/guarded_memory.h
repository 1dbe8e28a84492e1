// Memory of whole pages, so that whoever goes beyond it ends with a signal.
#pragma once

#include <cstddef>

namespace stein::test {

/// Ends the program with a sentence: a GPU would hang, or do what nobody knows.
[[noreturn]] void stop(const char* why);

/// Pages behind which there is none. They begin as numbers that are none.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  std::byte* data() const { return pages_; }
  std::size_t size() const { return size_; }
  std::byte* end() const { return pages_ + size_; }
  /// Makes all floats numbers that are none.
  void forget();
  /// Whether it can be touched.
  void set_open(bool open);
  /// Gives its pages back, but not its addresses, which nothing has any more.
  void retire();

 private:
  std::byte* pages_;
  std::size_t size_;
};

}  // namespace stein::test
