#include <stein/core/error.h>
#include <stein/lm/captions/tokenized_caption.h>

namespace stein::lm {

void check_captions(std::span<const TokenizedCaption> captions, std::string_view metric) {
  STEIN_CHECK(!captions.empty(), "{} needs at least one caption", metric);
  for (std::size_t i = 0; i < captions.size(); ++i)
    STEIN_CHECK(!captions[i].references.empty(), "{}: caption {} has no reference", metric, i);
}

}  // namespace stein::lm
