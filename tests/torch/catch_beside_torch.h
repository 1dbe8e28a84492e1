// Catch2 beside LibTorch, which has a CHECK of its own: that is read first and dropped, whatever a test includes first.
// Read ahead of every source of a program of tests with LibTorch (tests/CMakeLists.txt).
#pragma once

#include <c10/util/Logging.h>

#undef CHECK
#include <catch2/catch.hpp>
