// How a text is scored: perplexities under different protocols do not compare.
#pragma once

#include <cstdint>
#include <string>

namespace stein::lm {

/// What a model knows when it predicts a token.
enum class TextProtocol {
  stateful_1,  ///< all of the text before it: one row from the first token to the last (Zaremba et al. 2014)
  stateful,    ///< what stands before it in its row of a batch, whose rows begin at equal distances in the text
  zero_state,  ///< what stands before it in its chunk: the state is zero at the start of each (Gan et al. 2017)
};

/// "stateful-1", "stateful-20x35", "zero-state-32x20": with the rows and steps of a batch where they matter.
inline std::string protocol_name(TextProtocol protocol, std::int64_t rows, std::int64_t steps) {
  if (protocol == TextProtocol::stateful_1) return "stateful-1";
  return (protocol == TextProtocol::stateful ? "stateful-" : "zero-state-") + std::to_string(rows) + "x" +
         std::to_string(steps);
}

}  // namespace stein::lm
