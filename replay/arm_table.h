// The arms of a log by the names that it gives them, numbered in the order in which they come.
#pragma once

#include <stein/core/snapshot.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stein::replay {

/// Arms come and go in a log; here they come only: a number always means the same arm.
class ArmTable {
 public:
  /// Room for `most` arms. Throws Error(usage) unless it is at least 1.
  explicit ArmTable(std::int64_t most);

  /// The number of the arm called `name`; a new one if there is room. Throws Error(data) naming the option `arms` if
  /// there is none, and for a new name that is no UTF-8.
  std::int32_t number(std::string_view name);
  /// Puts the numbers of `names`, in their order, into `numbers`; false, and no new arm, if a name is there twice.
  /// Throws Error(data) as `number` does.
  bool number_all(std::span<const std::string_view> names, std::vector<std::int32_t>& numbers);
  /// Throws Error(usage) unless 0 ≤ number < size().
  const std::string& name(std::int64_t number) const;
  /// Forgets the arms that came behind the first `size`. Throws Error(usage) unless 0 ≤ size ≤ size().
  void shrink(std::int64_t size);
  std::int64_t size() const { return std::ssize(names_); }
  std::int64_t most() const { return most_; }

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved table has more arms than there is room for.
  void restore(const Snapshot& snapshot);

 private:
  /// Looks names up without making strings of them.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };

  std::int64_t most_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
  std::vector<std::string_view> sorted_;  ///< names of `number_all`
};

}  // namespace stein::replay
