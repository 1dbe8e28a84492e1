// CHECK_ERROR(expression, kind, "part", …): the expression throws stein::Error of `kind` whose sentence contains every
// part.
#pragma once

#include <stein/core/error.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace stein::test {

template <class Function>
void check_error(Function&& function, ErrorKind kind, const std::vector<std::string>& parts) {
  try {
    function();
  } catch (const Error& error) {
    const std::string sentence = error.what();
    CAPTURE(sentence);
    CHECK(error.kind() == kind);
    for (const std::string& part : parts) CHECK_THAT(sentence, Catch::Contains(part));
    return;
  }
  FAIL("expected an Error, none was thrown");
}

}  // namespace stein::test

#define CHECK_ERROR(expression, kind, ...) \
  ::stein::test::check_error([&] { static_cast<void>(expression); }, ::stein::ErrorKind::kind, {__VA_ARGS__})
