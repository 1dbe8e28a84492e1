#include <stein/replay/timestamp.h>

#include <array>
#include <ctime>

namespace stein::replay {

std::optional<std::int64_t> read_timestamp(std::string_view text) {
  std::array<char, 64> copy{};  // ends with zeros: strptime takes no lengths
  if (text.size() < 19 || text.size() >= copy.size() || (text[10] != ' ' && text[10] != 'T')) return std::nullopt;
  text.copy(copy.data(), text.size());
  copy[10] = 'T';
  std::tm time{};
  const char* rest = ::strptime(copy.data(), "%Y-%m-%dT%H:%M:%S", &time);
  if (rest == nullptr) return std::nullopt;
  if (*rest == '.') {
    ++rest;
    while (*rest >= '0' && *rest <= '9') ++rest;
  }
  std::tm offset{};
  if (*rest != '\0') rest = ::strptime(rest, "%z", &offset);
  if (rest == nullptr || rest != copy.data() + text.size()) return std::nullopt;
  return ::timegm(&time) - offset.tm_gmtoff;
}

}  // namespace stein::replay
