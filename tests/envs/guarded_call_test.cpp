// Errors of MuJoCo as exceptions: in calls inside one another, in many threads at once.
#include <mujoco/mujoco.h>
#include <stein/core/parallel.h>
#include <stein/envs/mujoco/guarded_call.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <string>

#include "core/error_matcher.h"

namespace stein::envs {
namespace {

void fail_inside(const char* words) {
  guarded_call(ErrorKind::numeric, [words] { mju_error("%s", words); });
}

TEST_CASE("an error of MuJoCo is an exception with its words, and the next call works", "[envs][mujoco]") {
  CHECK_ERROR(fail_inside("first"), numeric, "MuJoCo: first");
  CHECK_ERROR(fail_inside("second"), numeric, "MuJoCo: second");
  CHECK_NOTHROW(guarded_call(ErrorKind::data, [] {}));
}

TEST_CASE("a guarded call goes on being one after a call inside it has ended, well or not", "[envs][mujoco]") {
  const auto after_an_inner_call = [] {
    guarded_call(ErrorKind::data, [] {
      guarded_call(ErrorKind::numeric, [] {});
      mju_error("after the inner call");
    });
  };
  CHECK_ERROR(after_an_inner_call(), data, "MuJoCo: after the inner call");
  const auto after_an_inner_error = [] {
    guarded_call(ErrorKind::data, [] {
      try {
        fail_inside("inner");
      } catch (const Error&) {
      }
      mju_error("after the inner error");
    });
  };
  CHECK_ERROR(after_an_inner_error(), data, "MuJoCo: after the inner error");
  CHECK_ERROR(guarded_call(ErrorKind::data, [] { fail_inside("not caught"); }), numeric, "MuJoCo: not caught");
}

TEST_CASE("errors of many threads stay apart", "[envs][mujoco][threads]") {
  const int before = thread_count();
  set_thread_count(4);
  std::atomic<int> right = 0;
  parallel_for(2000, [&](std::int64_t i) {
    const std::string words = "error " + std::to_string(i);
    try {
      fail_inside(words.c_str());
    } catch (const Error& error) {
      right += std::string(error.what()) == "MuJoCo: " + words;
    }
  });
  set_thread_count(before);
  CHECK(right == 2000);
}

}  // namespace
}  // namespace stein::envs
