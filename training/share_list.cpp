#include <stein/core/error.h>
#include <stein/training/share_list.h>

#include <charconv>

namespace stein::training {

std::vector<double> shares_of(std::string_view option, const std::vector<std::string>& texts, const Range& range) {
  std::vector<double> shares;
  for (const std::string& text : texts) {
    double share = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
    STEIN_CHECK(error == std::errc() && end == text.data() + text.size() && range.contains(share),
                "option '{}' expects shares {}, got '{}'", option, range.text(), text);
    shares.push_back(share);
  }
  return shares;
}

}  // namespace stein::training
