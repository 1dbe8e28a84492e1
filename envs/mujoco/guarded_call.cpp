#include <mujoco/mujoco.h>
#include <stein/envs/mujoco/guarded_call.h>

#include <algorithm>
#include <csetjmp>

namespace stein::envs {
namespace {

thread_local std::jmp_buf* way_out = nullptr;  ///< of the innermost guarded call that this thread is in
thread_local char last_error[sizeof(mjLogMessage::subject)];

void handle(const mjLogMessage* said);

/// `handle` in the place of MuJoCo's handler of messages, of which there is one for all threads.
class Installed {
 public:
  /// The handler before is known before a message can come to `handle`, which hands on what is not its own.
  Installed() : before_(mju_setLogHandler(nullptr)) { mju_setLogHandler(handle); }
  /// Handlers end in the reverse order: one that was installed later, and is still there, stays.
  ~Installed() {
    const mjfLogHandler last = mju_setLogHandler(before_);
    if (last != handle) mju_setLogHandler(last);
  }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;

  void hand_on(const mjLogMessage* said) const { before_(said); }

 private:
  mjfLogHandler before_;
};

/// From the first guarded call on, which every use of MuJoCo begins with.
Installed& installed() {
  static Installed handler;
  return handler;
}

void handle(const mjLogMessage* said) {
  if (way_out == nullptr || said->level < mjLOG_WARNING) return installed().hand_on(said);
  if (said->level < mjLOG_ERROR) return;  // what matters is counted in mjData
  std::ranges::copy(said->subject, last_error);
  std::longjmp(*way_out, 1);
}

}  // namespace

std::string one_line(std::string_view message) {
  std::string line;
  for (const char letter : message) {
    const bool gap = letter == '\n' || letter == ' ';
    if (!gap) line += letter;
    if (gap && !line.empty() && line.back() != ' ') line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

void detail::guarded_call(ErrorKind kind, void (*body)(void*), void* context) {
  installed();
  const struct Inside {
    std::jmp_buf* outer = way_out;
    ~Inside() { way_out = outer; }
  } inside;
  std::jmp_buf here;
  way_out = &here;
  if (setjmp(here) == 0)
    body(context);
  else
    fail(kind, "MuJoCo: {}", one_line(last_error));
}

}  // namespace stein::envs
