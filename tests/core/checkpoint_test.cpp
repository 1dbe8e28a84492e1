#include <stein/core/atomic_file.h>
#include <stein/core/checkpoint.h>
#include <stein/core/log.h>
#include <stein/core/read_file.h>
#include <stein/core/safetensors.h>

#include <catch2/catch.hpp>
#include <set>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

Snapshot state_at(std::uint64_t step) {
  Snapshot state;
  state.put("policy/particles", std::vector<float>{1, 2, static_cast<float>(step)});
  state.put("step", step);
  state.put_text("policy/name", "svgd");
  return state;
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

void flip_bit(const std::filesystem::path& path, std::size_t place) {
  std::string bytes = read_file(path);
  bytes.at(place) ^= 1;
  write_file_atomically(path, bytes);
}

TEST_CASE("a checkpoint returns what was saved, keeps two generations and depends on nothing but its content",
          "[core][checkpoint]") {
  const test::TemporaryDirectory folder;
  CHECK_FALSE(load_latest_checkpoint(folder / "checkpoints").has_value());
  for (const std::uint64_t step : {9u, 10u, 100u}) save_checkpoint(folder / "checkpoints", step, state_at(step));
  CHECK(names_in(folder / "checkpoints") ==
        std::set<std::string>{"checkpoint-10.safetensors", "checkpoint-100.safetensors"});

  const auto latest = load_latest_checkpoint(folder / "checkpoints");
  REQUIRE(latest.has_value());
  CHECK(latest->step == 100);
  CHECK(latest->state.get_vector<float>("policy/particles") == std::vector<float>{1, 2, 100});
  CHECK(latest->state.get_text("policy/name") == "svgd");
  CHECK(latest->state.texts().size() == 1);

  save_checkpoint(folder / "again", 100, latest->state);
  CHECK(read_file(folder / "again/checkpoint-100.safetensors") ==
        read_file(folder / "checkpoints/checkpoint-100.safetensors"));
}

TEST_CASE("saving removes what a killed writer left, and nothing else", "[core][checkpoint]") {
  const test::TemporaryDirectory folder;
  for (const char* name : {".checkpoint-5.safetensors.4711-0.tmp", ".checkpoint-7.safetensors.9-12.tmp", "mine.tmp"})
    write_file_atomically(folder / name, "half");
  save_checkpoint(folder.path(), 8, state_at(8));
  CHECK(names_in(folder.path()) == std::set<std::string>{"checkpoint-8.safetensors", "mine.tmp"});
}

TEST_CASE("saving after a resume from an older generation drops the generations beyond it", "[core][checkpoint]") {
  const test::TemporaryDirectory folder;
  for (const std::uint64_t step : {10u, 20u, 15u}) save_checkpoint(folder.path(), step, state_at(step));
  CHECK(names_in(folder.path()) == std::set<std::string>{"checkpoint-10.safetensors", "checkpoint-15.safetensors"});
}

TEST_CASE("a damaged newest checkpoint is passed over, wherever the damage is", "[core][checkpoint]") {
  set_log_level(LogLevel::error);
  const test::TemporaryDirectory folder;
  save_checkpoint(folder.path(), 1, state_at(1));
  save_checkpoint(folder.path(), 2, state_at(2));
  const std::filesystem::path newest = folder / "checkpoint-2.safetensors";
  const std::string intact = read_file(newest);
  for (std::size_t place = 0; place < intact.size(); ++place) {
    flip_bit(newest, place);
    const auto found = load_latest_checkpoint(folder.path());
    REQUIRE(found.has_value());
    // A changed bit is noticed, or it turned a space of the padding or an escape into the same content.
    if (found->step != 1) CHECK(found->state.get_vector<float>("policy/particles") == std::vector<float>{1, 2, 2});
    write_file_atomically(newest, intact);
  }
  write_file_atomically(newest, intact.substr(0, intact.size() - 1));
  CHECK(load_latest_checkpoint(folder.path())->step == 1);
  set_log_level(LogLevel::info);
}

TEST_CASE("a checkpoint that cannot be trusted is refused with the reason", "[core][checkpoint]") {
  set_log_level(LogLevel::error);
  const test::TemporaryDirectory folder;
  save_checkpoint(folder.path(), 1, state_at(1));
  const std::filesystem::path path = folder / "checkpoint-1.safetensors";
  const std::string intact = read_file(path);

  flip_bit(path, intact.size() - 1);
  CHECK_ERROR(load_checkpoint(path), data, "checkpoint-1.safetensors", "damaged", "checksum of 'policy/particles'");
  CHECK_ERROR(load_latest_checkpoint(folder.path()), data, "no intact checkpoint", "policy/particles");

  write_file_atomically(folder / "checkpoint-7.safetensors", intact);
  CHECK_ERROR(load_checkpoint(folder / "checkpoint-7.safetensors"), data, "it says step 1");

  std::string other_version = intact;
  const std::string version = R"(\"format\":1)";
  other_version.replace(other_version.find(version), version.size(), R"(\"format\":9)");
  write_file_atomically(path, other_version);
  CHECK_ERROR(load_checkpoint(path), data, "has format 9, this program reads format 1");

  write_safetensors(path, state_at(1));
  CHECK_ERROR(load_checkpoint(path), data, "no checkpoint of Stein");
  set_log_level(LogLevel::info);
}

TEST_CASE("a checkpoint directory that cannot be made is an io error", "[core][checkpoint]") {
  const test::TemporaryDirectory folder;
  write_file_atomically(folder / "file", "");
  CHECK_ERROR(save_checkpoint(folder / "file/checkpoints", 1, state_at(1)), io, "file/checkpoints");
}

}  // namespace
}  // namespace stein
