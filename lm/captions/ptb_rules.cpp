#include <stein/lm/captions/ptb_rules.h>
#include <stein/lm/captions/ptb_words.h>

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

namespace stein::lm::ptb {
namespace {

/// What a rule finds at the beginning of the rest. Of all rules the one that has seen most decides, of equal ones the
/// first.
struct Match {
  std::size_t seen = 0;   ///< code points that were looked at
  std::size_t token = 0;  ///< code points of the token, the first of these
};

Match whole(std::size_t length) {
  return {length, length};
}

bool is_one_of(char32_t c, Rest list) {
  return list.find(c) != Rest::npos;
}

bool is_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}

bool is_capital(char32_t c) {
  return c >= U'A' && c <= U'Z';
}

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

char32_t lower_letter(char32_t c) {
  return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

bool is_letter(char32_t c) {
  if (c < 0x80) return is_capital(c) || (c >= U'a' && c <= U'z');
  // Lu, Ll, Lt, Lm, Lo and the marks Mn, Mc, which follow one another.
  return category(c) >= UTF8PROC_CATEGORY_LU && category(c) <= UTF8PROC_CATEGORY_MC;
}

bool is_alphanumeric(char32_t c) {
  return is_letter(c) || is_digit(c);
}

bool is_apostrophe(char32_t c) {
  return is_one_of(c, U"'’");
}

bool is_hyphen(char32_t c) {
  return is_one_of(c, U"-‐‑");
}

/// How many code points from `begin` on `is_part` holds for.
template <class Predicate>
std::size_t run(Rest rest, std::size_t begin, const Predicate& is_part) {
  std::size_t end = begin;
  while (end < rest.size() && is_part(rest[end])) ++end;
  return end - begin;
}

std::size_t letters_and_digits(Rest rest, std::size_t begin = 0) {
  return run(rest, begin, is_alphanumeric);
}

bool is_letter_at(Rest rest, std::size_t place) {
  return place < rest.size() && is_letter(rest[place]);
}

bool is_digit_at(Rest rest, std::size_t place) {
  return place < rest.size() && is_digit(rest[place]);
}

/// Length of `wanted`, which is in lower case with straight apostrophes, if the rest begins with it and no letter or
/// digit follows; else 0.
std::size_t whole_word(Rest rest, Rest wanted) {
  const auto same = [](char32_t c, char32_t found) {
    return c == lower_letter(found) || (c == U'\'' && is_apostrophe(found));
  };
  if (rest.size() < wanted.size() || !std::equal(wanted.begin(), wanted.end(), rest.begin(), same)) return 0;
  return letters_and_digits(rest, wanted.size()) == 0 ? wanted.size() : 0;
}

template <class List>
std::size_t longest_of(Rest rest, const List& list) {
  std::size_t length = 0;
  for (const Rest wanted : list) length = std::max(length, whole_word(rest, wanted));
  return length;
}

/// Letters with a dot behind each: `J.`, `p.m.`
std::size_t initials(Rest rest) {
  std::size_t length = 0;
  while (is_letter_at(rest, length) && length + 1 < rest.size() && rest[length + 1] == U'.') length += 2;
  return length;
}

/// An abbreviation with its dot.
std::size_t abbreviation(Rest rest) {
  if (const std::size_t length = initials(rest); length > 0) {
    const Rest next = rest.substr(length + run(rest, length, separates));
    const bool ends_sentence =
        length == 2 && !next.empty() && is_capital(next[0]) && longest_of(next, sentence_starts) > 0;
    return ends_sentence ? 0 : length;
  }
  const std::size_t name =
      std::max(longest_of(rest, abbreviations), is_capital(rest[0]) ? longest_of(rest, abbreviations_with_capital) : 0);
  const auto has_dot = [&](std::size_t length) { return length > 0 && length < rest.size() && rest[length] == U'.'; };
  if (has_dot(name)) return name + 1;
  const std::size_t counted = longest_of(rest, abbreviations_before_number);
  return has_dot(counted) && is_digit_at(rest, counted + 1 + run(rest, counted + 1, separates)) ? counted + 1 : 0;
}

/// `'s`, `'em`, `ol'`, `'n'`, `'90s`.
Match word_with_apostrophe(Rest rest) {
  if (whole_word(rest, U"ol") > 0 && rest.size() > 2 && is_apostrophe(rest[2]) && letters_and_digits(rest, 3) == 0)
    return whole(3);
  if (rest.size() > 2 && is_apostrophe(rest[0]) && is_one_of(rest[1], U"nN") && is_apostrophe(rest[2])) return whole(3);
  if (is_apostrophe(rest[0]) && run(rest, 1, is_digit) == 2) {
    if (rest.size() == 3 || separates(rest[3])) return whole(3);
    if (rest[3] == U's' && letters_and_digits(rest, 4) == 0) return whole(4);
  }
  return whole(std::max(longest_of(rest, clitics), longest_of(rest, elisions)));
}

/// `O'Brien`, `o'clock`, `d'Angelo`.
std::size_t name_with_apostrophe(Rest rest) {
  const bool begins = is_one_of(rest[0], U"dDoOlL") && rest.size() > 2 && is_apostrophe(rest[1]) && is_letter(rest[2]);
  return begins && longest_of(rest.substr(1), clitics) == 0 ? 2 + letters_and_digits(rest, 2) : 0;
}

/// `do` of `don't`, `can` of `cannot`, `y'` of `y'all`.
Match contraction(Rest rest) {
  constexpr auto in_two = std::to_array<std::pair<Rest, std::size_t>>({{U"cannot", 3},
                                                                       {U"gonna", 3},
                                                                       {U"gotta", 3},
                                                                       {U"wanna", 3},
                                                                       {U"gimme", 3},
                                                                       {U"lemme", 3},
                                                                       {U"'tis", 2},
                                                                       {U"'twas", 2}});
  for (const auto& [form, first] : in_two)
    if (whole_word(rest, form) > 0) return {form.size(), first};
  const std::size_t length = letters_and_digits(rest);
  if (length > 1 && whole_word(rest.substr(length - 1), U"n't") > 0) return {length + 2, length - 1};
  if (is_one_of(rest[0], U"yY") && length == 1 && rest.size() > 2 && is_apostrophe(rest[1]) && is_letter(rest[2]))
    return {2 + letters_and_digits(rest, 2), 2};
  return {};
}

/// Letters and digits; after a first letter also dots, `!` or `?` between letters.
std::size_t word(Rest rest, Rest joints = U".!?") {
  std::size_t length = letters_and_digits(rest);
  if (length == 0 || is_digit(rest[0])) return length;
  while (length < rest.size() && is_one_of(rest[length], joints) && is_letter_at(rest, length + 1))
    length += 1 + letters_and_digits(rest, length + 1);
  return length;
}

/// A number with a sign, and with commas, dots and colons inside or before.
std::size_t number(Rest rest) {
  const std::size_t sign = is_one_of(rest[0], U"+-") ? 1 : 0;
  std::size_t length = sign + run(rest, sign, is_digit);
  while (length < rest.size() && is_one_of(rest[length], U".,:") && is_digit_at(rest, length + 1))
    length += 1 + run(rest, length + 1, is_digit);
  return length > sign ? length : 0;
}

/// `black-and-white`, `3.5-inch`, `U.S.-based`, `anti-U.S.`, `foo_bar`.
std::size_t compound(Rest rest) {
  if (is_one_of(rest[0], U"+-")) return 0;
  std::size_t length = std::max({word(rest, U"."), number(rest), abbreviation(rest), name_with_apostrophe(rest)});
  while (length > 0 && length < rest.size() && (is_hyphen(rest[length]) || rest[length] == U'_')) {
    const Rest part = rest.substr(length + 1);
    const std::size_t next =
        part.empty() ? 0 : std::max(letters_and_digits(part), initials(part) >= 4 ? initials(part) : 0);
    if (next == 0) break;
    length += 1 + next;
  }
  return length;
}

/// `and/or`, `half-man/half-horse`, `1/2`, `12/5/2010`.
std::size_t with_slashes(Rest rest) {
  const auto part = [&](std::size_t begin) {
    std::size_t length = letters_and_digits(rest, begin);
    for (int i = 0; i < 2 && length > 0 && begin + length < rest.size() && is_hyphen(rest[begin + length]); ++i)
      if (const std::size_t more = run(rest, begin + length + 1, is_letter); more > 0) length += 1 + more;
    return length;
  };
  std::size_t length = part(0);
  for (int slashes = 0; slashes < 2 && length > 0 && length < rest.size() && rest[length] == U'/'; ++slashes) {
    const std::size_t next = part(length + 1);
    if (next == 0) break;
    length += 1 + next;
  }
  return length;
}

/// `AT&T`, `C++`, `F#`, `US$`.
std::size_t initials_with_sign(Rest rest) {
  std::size_t length = run(rest, 0, is_capital);
  if (length > 0 && length < 3 && length < rest.size() && rest[length] == U'$') return length + 1;
  if (rest.starts_with(U"C++") || rest.starts_with(U"c++")) return 3;
  if (rest.size() > 1 && is_one_of(rest[0], U"cCfF") && rest[1] == U'#') return 2;
  while (length > 0 && length < rest.size() && is_one_of(rest[length], U"&+") && run(rest, length + 1, is_capital) > 0)
    length += 1 + run(rest, length + 1, is_capital);
  return length;
}

/// Web and mail addresses, `#tag`, `@name`.
std::size_t address(Rest rest) {
  if (rest.starts_with(U"http://") || rest.starts_with(U"https://") || rest.starts_with(U"www.")) {
    std::size_t length = run(rest, 0, [](char32_t c) { return !separates(c) && !is_one_of(c, U"\"<>|(){}"); });
    while (is_one_of(rest[length - 1], U".,!?;:'-")) --length;
    return length;
  }
  if (rest[0] == U'#' || rest[0] == U'@') {
    const auto is_part = [](char32_t c) { return is_alphanumeric(c) || c == U'_'; };
    return is_letter_at(rest, 1) || rest.starts_with(U"@_") ? 1 + run(rest, 1, is_part) : 0;
  }
  const auto is_part = [](char32_t c) { return is_alphanumeric(c) || is_one_of(c, U"._-"); };
  const std::size_t name = is_alphanumeric(rest[0]) ? run(rest, 0, is_part) : 0;
  if (name == 0 || name >= rest.size() || rest[name] != U'@') return 0;
  std::size_t length = name + 1 + run(rest, name + 1, is_part);
  while (!is_alphanumeric(rest[length - 1]) && rest[length - 1] != U'@') --length;
  return length > name + 1 ? length : 0;
}

/// `<b>`, `&amp;`, and the brackets of text that was tokenized before.
std::size_t markup(Rest rest) {
  for (const Rest bracket : {U"-lrb-", U"-rrb-", U"-lsb-", U"-rsb-", U"-lcb-", U"-rcb-"})
    if (lower(rest.substr(0, bracket.size())) == bracket) return bracket.size();
  if (rest[0] == U'<' && (is_letter_at(rest, 1) || (rest.size() > 1 && is_one_of(rest[1], U"/!")))) {
    const std::size_t length = 1 + run(rest, 1, [](char32_t c) { return !is_one_of(c, U"<>"); });
    return length < rest.size() && rest[length] == U'>' ? length + 1 : 0;
  }
  for (const Rest entity : {U"&amp;", U"&lt;", U"&gt;", U"&quot;", U"&apos;", U"&nbsp;"})
    if (rest.starts_with(entity)) return entity.size();
  return 0;
}

/// The same sign several times over: `--`, `!!`, `?!`, `**`, `__`.
std::size_t repeated_sign(Rest rest) {
  if (is_one_of(rest[0], U"!?")) return run(rest, 0, [](char32_t c) { return is_one_of(c, U"!?"); });
  return is_one_of(rest[0], U"-*_#@<>`'") ? run(rest, 0, [&](char32_t c) { return c == rest[0]; }) : 1;
}

}  // namespace

bool separates(char32_t c) {
  if (c <= U' ' || c > 0xffff) return true;
  if (c < 0x7f) return false;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CN: return true;
    default: return false;
  }
}

std::u32string lower(Rest text) {
  std::u32string result(text);
  for (char32_t& c : result) c = lower_letter(c);
  return result;
}

std::size_t token_length(Rest rest) {
  Match best = whole(1);
  for (const Match found :
       {contraction(rest), word_with_apostrophe(rest), whole(name_with_apostrophe(rest)), whole(word(rest)),
        whole(number(rest)), whole(abbreviation(rest)), whole(compound(rest)), whole(with_slashes(rest)),
        whole(initials_with_sign(rest)), whole(address(rest)), whole(markup(rest)), whole(repeated_sign(rest))})
    if (found.seen > best.seen) best = found;
  return best.token;
}

}  // namespace stein::lm::ptb
