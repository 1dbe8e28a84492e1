// Captions in tests, written as words between spaces.
#pragma once

#include <stein/lm/captions/tokenized_caption.h>

#include <initializer_list>
#include <sstream>
#include <string>

namespace stein::lm::test {

inline Words words(const std::string& text) {
  std::istringstream stream(text);
  Words result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

inline TokenizedCaption caption(const std::string& text, std::initializer_list<const char*> references) {
  TokenizedCaption result{.caption = words(text), .references = {}};
  for (const char* reference : references) result.references.push_back(words(reference));
  return result;
}

}  // namespace stein::lm::test
