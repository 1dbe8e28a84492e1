// How sentences of the published data sets are cut into words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stein::lm {

/// The words of a sentence after the cleaning of Kim (2014), "Convolutional neural networks for sentence
/// classification", which later work on MR, SUBJ, CR, MPQA and TREC uses: every byte but ASCII letters, digits and ( )
/// , ! ? ' ` becomes a space; a space goes before 's 've n't 're 'd 'll, and before and behind , ! ( ) and ?. With
/// `lower_case` the words are in lower case, which Kim leaves out for TREC.
std::vector<std::string> cleaned_words(std::string_view sentence, bool lower_case);

}  // namespace stein::lm
