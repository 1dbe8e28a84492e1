// Captions in tests, written as words between spaces.
#pragma once

#include <stein/lm/captions/tokenized_caption.h>

#include <initializer_list>
#include <sstream>
#include <string>

namespace stein::test {

/// Of scores against a calculation by hand.
inline constexpr double rounding = 1e-12;

inline lm::Words words(const std::string& text) {
  std::istringstream stream(text);
  lm::Words result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

inline lm::TokenizedCaption caption(const std::string& text, std::initializer_list<const char*> references) {
  lm::TokenizedCaption result{.caption = words(text), .references = {}};
  for (const char* reference : references) result.references.push_back(words(reference));
  return result;
}

}  // namespace stein::test
