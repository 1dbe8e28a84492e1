// Devices that a training cannot take: what every kind that trains networks says of them.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cli/program.h"

namespace stein::test {

/// @param train  the words of the command: "lm", "train"
inline void check_devices_are_refused(const TemporaryDirectory& folder, const std::vector<std::string>& train) {
  const auto with_device = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = train;
    arguments.emplace_back("--device");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(folder.path(), std::move(arguments));
  };
  const Outcome far = with_device({"cuda:4096"});  // no machine has so many
  CHECK(far.code == 2);
  CHECK_THAT(far.err, Catch::Contains("GPU") || Catch::Contains("without its library 'cuda'"));
  const Outcome unknown = with_device({"tpu"});
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, Catch::Contains("cpu, cuda or cuda:INDEX, got 'tpu'"));
}

}  // namespace stein::test
