#include <stein/core/error.h>
#include <stein/core/escaped_text.h>

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>

namespace stein {

std::string escaped(std::string_view raw) {
  const bool valid = simdjson::validate_utf8(raw.data(), raw.size());
  std::string text;
  for (const char letter : raw) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '\\')
      text += "\\\\";
    else if (letter == '\n')
      text += "\\n";
    else if (letter == '\r')
      text += "\\r";
    else if (letter == '\t')
      text += "\\t";
    else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !valid))
      text += fmt::format("\\x{:02x}", byte);
    else
      text += letter;
  }
  return text;
}

std::string without_controls(std::string_view raw) {
  std::string text;
  for (const char letter : raw) {
    const auto byte = static_cast<unsigned char>(letter);
    if ((byte < 0x20 && letter != '\n' && letter != '\t') || byte == 0x7f)
      text += fmt::format("\\x{:02x}", byte);
    else
      text += letter;
  }
  return text;
}

std::string unescaped(std::string_view text) {
  std::string raw;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      raw += text[i];
      continue;
    }
    const char kind = ++i < text.size() ? text[i] : '\0';
    if (kind == '\\')
      raw += '\\';
    else if (kind == 'n')
      raw += '\n';
    else if (kind == 'r')
      raw += '\r';
    else if (kind == 't')
      raw += '\t';
    else {
      unsigned byte = 0;
      const std::string_view digits = kind == 'x' ? text.substr(i + 1, 2) : "";
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2)
        fail(ErrorKind::data, "'{}' is no escaped text: what follows a backslash is not n, r, t, \\ or xNN",
             escaped(text));
      raw += static_cast<char>(byte);
      i += 2;
    }
  }
  return raw;
}

}  // namespace stein
