// Permissions as an ordinary user meets them, whoever runs the tests.
#pragma once

#include <unistd.h>

#include "skip.h"

namespace stein::test {

/// Root, whom permissions do not stop, acts as the user `nobody` while this lives.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    if (is_root_ && ::seteuid(nobody) != 0) skip("running as root, who cannot act as another user here");
  }
  ~OrdinaryUser() {
    if (is_root_) static_cast<void>(::seteuid(0));
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  static constexpr uid_t nobody = 65534;
  bool is_root_ = ::geteuid() == 0;
};

}  // namespace stein::test
