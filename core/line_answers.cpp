#include <stein/core/error.h>
#include <stein/core/line_answers.h>

namespace stein {

void LineAnswers::hand_on() {
  if (std::fwrite(text_.data(), 1, text_.size(), out_) != text_.size() || std::fflush(out_) != 0)
    fail(ErrorKind::io, "cannot write to standard output");
  text_.clear();
}

}  // namespace stein
