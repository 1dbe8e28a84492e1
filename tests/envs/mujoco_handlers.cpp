// Handlers of MuJoCo's messages: Stein's hands on to the one before what is not its own, and makes room for it at the
// end.
#include <mujoco/mujoco.h>
#include <stein/envs/mujoco/guarded_call.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string heard;

void listen(const mjLogMessage* said) {
  heard += said->subject;
}

void expect(const std::string& found, const std::string& wanted) {
  if (found == wanted) return;
  std::fprintf(stderr, "expected '%s', found '%s'\n", wanted.c_str(), found.c_str());
  std::_Exit(1);
}

/// Made before Stein's handler, and so destroyed after it.
struct AtTheEnd {
  ~AtTheEnd() {
    mju_warning(", at the end");
    expect(heard, "before, outside, at the end");
    if (mju_setLogHandler(nullptr) != listen) std::_Exit(2);
  }
} at_the_end;

}  // namespace

int main() {
  mju_setLogHandler(listen);
  mju_warning("before");
  stein::envs::guarded_call(stein::ErrorKind::numeric, [] { mju_warning("a warning inside is counted, not printed"); });
  mju_warning(", outside");
  expect(heard, "before, outside");
}
