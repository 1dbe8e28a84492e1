#include <mujoco/mujoco.h>
#include <stein/envs/mujoco/guarded_call.h>

#include <algorithm>
#include <csetjmp>

namespace stein::envs {
namespace {

thread_local std::jmp_buf* way_out = nullptr;  ///< of the call that this thread is in
thread_local char last_error[sizeof(mjLogMessage::subject)];
mjfLogHandler handler_before = nullptr;

void handle(const mjLogMessage* said) {
  if (way_out == nullptr || said->level < mjLOG_WARNING) return handler_before(said);
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
  static const bool installed = [] {
    handler_before = mju_setLogHandler(handle);
    return true;
  }();
  static_cast<void>(installed);
  const struct Inside {
    ~Inside() { way_out = nullptr; }
  } inside;
  std::jmp_buf here;
  way_out = &here;
  if (setjmp(here) == 0)
    body(context);
  else
    fail(kind, "MuJoCo: {}", one_line(last_error));
}

}  // namespace stein::envs
