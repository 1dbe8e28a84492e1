#include <stein/distributed/communicator.h>

#include <algorithm>
#include <cstdlib>

namespace stein::distributed {

bool Communicator::any(bool own) {
  if (size() == 1) return own;
  const std::vector<std::string> all = gather(own ? "yes" : "");
  return !broadcast(std::ranges::any_of(all, [](const std::string& bytes) { return !bytes.empty(); }) ? "yes" : "")
              .empty();
}

void SingleProcess::abort(int exit_code) {
  std::_Exit(exit_code);
}

}  // namespace stein::distributed
