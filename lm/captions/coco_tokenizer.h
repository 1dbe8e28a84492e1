// The words of a caption, as the COCO caption evaluation cuts them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stein::lm {

/// A caption as words.
using Words = std::vector<std::string>;

/// The words of a caption of one line that the COCO caption evaluation scores (Chen et al. 2015): the tokens that
/// Stanford's PTBTokenizer 3.4.1 gives with `-preserveLines -lowerCase`, but for punctuation.
///
/// Punctuation is `.` `?` `!` `,` `:` `;` `-` `--` `...` and quotes. The list of COCO has `-LRB-`, `-RRB-`, `-LCB-` and
/// `-RCB-` too; the tokens are in lower case by then, so brackets stay there, as `-lrb-` `-rrb-` (round), `-lsb-`
/// `-rsb-` (square), `-lcb-` `-rcb-` (curly), and so they do here. `!!` and `?!` are tokens of their own and stay too.
///
/// Of the tokenizer's rules these are implemented; of all tokens that begin at a place the longest is taken:
/// - words of letters and digits of any script, with hyphens and underscores inside (`black-and-white`), with one or
///   two slashes (`and/or`), and with a dot, `!` or `?` between letters (`file.txt`, `dogs.cats`)
/// - a contraction is cut before `n't`, `'s`, `'m`, `'d`, `'ll`, `'re` and `'ve`, whether its apostrophe is straight or
///   curly; `cannot`, `gonna`, `gotta`, `wanna`, `gimme`, `lemme`, `'tis`, `'twas`, `y'all` are cut in two; `o'clock`,
///   `O'Brien`, `ma'am`, `ol'`, `'em`, `'til`, `'cause`, `'n'` and `'90s` are not cut
/// - numbers with sign, comma, dot and colon (`1,000.5`, `5:30`), fractions and dates (`1/2`, `½` as `1/2`); `£` as
///   `#`, `€` as `$`, `¢` as `cents`; `US$`
/// - an abbreviation keeps its dot: single letters (`J.`, `p.m.`, `U.S.`), titles, months, days, states, companies and
///   streets (a list in the source), and `No.` and its like before a number
/// - `#tag`, `@name`, `AT&T`, `C++`, mail addresses, web addresses with `http://` or `www.`, HTML tags and entities
///
/// Not implemented are smileys, telephone numbers with spaces, web addresses of other forms, abbreviations and elisions
/// that are not in the lists (`whene'er`). There a single letter at the end of a caption loses its dot if the next
/// caption of the file begins a sentence; here a caption has no neighbour. Signs outside the Basic Multilingual Plane,
/// such as emoji, separate words, as there. The 40,460 captions of Flickr8k have the same words there and here.
/// @throws Error(data) if `caption` is no UTF-8
Words coco_words(std::string_view caption);

}  // namespace stein::lm
