#include <fmt/format.h>
#include <stein/core/error.h>
#include <stein/replay/column_use.h>

#include <algorithm>

namespace stein::replay {

std::int64_t ColumnUse::crowded() const {
  return std::ranges::count(crowded_, std::uint8_t{1});
}

std::int64_t ColumnUse::used() const {
  return std::ssize(feature_) - std::ranges::count(feature_, std::uint64_t{0});
}

void ColumnUse::save(Snapshot& snapshot) const {
  snapshot.put("features", feature_);
  snapshot.put("crowded", crowded_);
}

void ColumnUse::restore(const Snapshot& snapshot) {
  if (snapshot.size_of("features") != feature_.size() || snapshot.size_of("crowded") != crowded_.size())
    fail(ErrorKind::data, "the saved use of columns is of {}, expected {}", snapshot.size_of("features"),
         feature_.size());
  feature_ = snapshot.get_vector<std::uint64_t>("features");
  crowded_ = snapshot.get_vector<std::uint8_t>("crowded");
}

std::string crowd_warning(const ColumnUse& use, std::string_view what, std::string_view option) {
  if (use.crowded() == 0) return "";
  return fmt::format(
      "{} of the {} columns that {} were hashed into hold several, which no policy can tell apart: raise `{}`",
      use.crowded(), use.used(), what, option);
}

}  // namespace stein::replay
