#include <stein/core/error.h>
#include <stein/replay/arm_table.h>

#include <simdjson.h>

#include <algorithm>
#include <limits>

namespace stein::replay {

ArmTable::ArmTable(std::int64_t most) : most_(most) {
  STEIN_CHECK(most >= 1 && most <= std::numeric_limits<std::int32_t>::max(),
              "a table of arms needs room for at least 1 arm, got {}", most);
}

std::int32_t ArmTable::number(std::string_view name) {
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  if (size() == most_)
    fail(ErrorKind::data, "there are more than {} arms: set the option `arms` of the run to as many as there may be",
         most_);
  if (!simdjson::validate_utf8(name))  // checkpoints and results could not have it
    fail(ErrorKind::data,
         "the name of an arm is no UTF-8 text: convert the log, such as by `iconv -f latin1 -t utf-8`");
  const auto number = static_cast<std::int32_t>(size());
  names_.emplace_back(name);
  numbers_.emplace(name, number);
  return number;
}

bool ArmTable::number_all(std::span<const std::string_view> names, std::vector<std::int32_t>& numbers) {
  sorted_.assign(names.begin(), names.end());
  std::ranges::sort(sorted_);
  if (std::ranges::adjacent_find(sorted_) != sorted_.end()) return false;
  numbers.clear();
  for (const std::string_view name : names) numbers.push_back(number(name));
  return true;
}

const std::string& ArmTable::name(std::int64_t number) const {
  STEIN_CHECK(number >= 0 && number < size(), "expected an arm of 0 to {}, got {}", size() - 1, number);
  return names_[static_cast<std::size_t>(number)];
}

void ArmTable::shrink(std::int64_t size) {
  STEIN_CHECK(size >= 0 && size <= this->size(), "expected 0 to {} arms, got {}", this->size(), size);
  for (; this->size() > size; names_.pop_back()) numbers_.erase(names_.back());
}

void ArmTable::save(Snapshot& snapshot) const {
  std::string together;
  std::vector<std::int64_t> lengths;
  for (const std::string& name : names_) {
    together += name;
    lengths.push_back(std::ssize(name));
  }
  snapshot.put_text("names", together);
  snapshot.put("lengths", lengths);
}

void ArmTable::restore(const Snapshot& snapshot) {
  const std::string& together = snapshot.get_text("names");
  names_.clear(), numbers_.clear();
  std::size_t begin = 0;
  for (const std::int64_t length : snapshot.get_vector<std::int64_t>("lengths")) {
    if (length < 0 || begin + static_cast<std::size_t>(length) > together.size() || size() == most_)
      fail(ErrorKind::data, "the saved table of arms does not fit one with room for {}", most_);
    number(std::string_view(together).substr(begin, static_cast<std::size_t>(length)));
    begin += static_cast<std::size_t>(length);
  }
}

}  // namespace stein::replay
