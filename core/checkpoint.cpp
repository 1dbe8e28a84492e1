#include <stein/core/checkpoint.h>

#include <charconv>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include <stein/core/atomic_file.h>
#include <stein/core/checksum.h>
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/core/safetensors.h>

namespace stein {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int format_version = 1;
constexpr std::string_view prefix = "checkpoint-";
constexpr std::string_view suffix = ".safetensors";
constexpr std::string_view seal_key = "stein.checkpoint";  // header text that holds version, step and checksums

std::string file_name(std::uint64_t step) {
  return fmt::format("{}{}{}", prefix, step, suffix);
}

std::optional<std::uint64_t> step_of(const fs::path& path) {
  const std::string name = path.filename().string();
  std::uint64_t step = 0;
  if (!name.starts_with(prefix) || name.size() <= prefix.size() + suffix.size()) return std::nullopt;
  const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
  if (error != std::errc() || name != file_name(step)) return std::nullopt;
  return step;
}

/// Newest first.
using Generations = std::map<std::uint64_t, fs::path, std::greater<>>;

Generations find_generations(const fs::path& directory) {
  Generations found;
  std::error_code error;
  if (!fs::exists(directory, error)) return found;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    if (const auto step = step_of(entry->path())) found.emplace(*step, entry->path());
  }
  if (error) fail(ErrorKind::io, "cannot list '{}': {}", directory.string(), error.message());
  return found;
}

/// Covers type and shape too, so that no bit of an array's description can change unseen.
std::string digest(const Snapshot::Array& array) {
  Sha256 hash;
  const std::string description = fmt::format("{}[{}]", safetensors_name(array.type), fmt::join(array.shape, ","));
  hash.update(std::as_bytes(std::span(description)));
  hash.update(array.bytes);
  return hash.finish();
}

std::string make_seal(std::uint64_t step, const Snapshot& state) {
  Json seal{{"format", format_version}, {"step", step}, {"arrays", Json::object()}, {"texts", Json::object()}};
  for (const auto& [name, array] : state.arrays()) seal["arrays"][name] = digest(array);
  for (const auto& [name, text] : state.texts()) {
    if (name != seal_key) seal["texts"][name] = sha256(text);
  }
  return seal.dump();
}

/// What does not match the seal, in words; empty if all does.
std::string find_damage(const Json& seal, std::uint64_t step, const Snapshot& state) {
  const Json expected = Json::parse(make_seal(step, state));
  if (seal == expected) return "";
  for (const char* kind : {"arrays", "texts"}) {
    if (!seal.contains(kind) || !seal[kind].is_object()) return "its checksums are missing";
    for (const auto& [name, sum] : expected[kind].items()) {
      if (!seal[kind].contains(name) || seal[kind][name] != sum)
        return fmt::format("the checksum of '{}' does not match", name);
    }
  }
  return "its checksums do not match its content";
}

void prune(const fs::path& directory, std::uint64_t saved) {
  int earlier = 0;
  for (const auto& [step, path] : find_generations(directory)) {
    if (step == saved || (step < saved && earlier++ == 0)) continue;
    std::error_code error;
    if (!fs::remove(path, error) && error)
      log_warning("cannot remove the old checkpoint '{}': {}", path.string(), error.message());
  }
  remove_unfinished_files(directory);
}

}  // namespace

void save_checkpoint(const fs::path& directory, std::uint64_t step, const Snapshot& state) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) fail(ErrorKind::io, "cannot make the directory '{}': {}", directory.string(), error.message());
  write_safetensors(directory / file_name(step), state, {{std::string(seal_key), make_seal(step, state)}});
  prune(directory, step);
}

Checkpoint load_checkpoint(const fs::path& path) {
  const Snapshot content = read_safetensors(path);
  const auto seal_text = content.texts().find(seal_key);
  if (seal_text == content.texts().end()) fail(ErrorKind::data, "'{}' is no checkpoint of Stein", path.string());
  const Json seal = Json::parse(seal_text->second, nullptr, false);
  if (!seal.is_object() || !seal.contains("format") || !seal.contains("step") || !seal["step"].is_number_unsigned()) {
    fail(ErrorKind::data, "the checkpoint '{}' is damaged: its description cannot be read", path.string());
  }
  if (seal["format"] != format_version) {
    fail(ErrorKind::data, "the checkpoint '{}' has format {}, this program reads format {}", path.string(),
         seal["format"].dump(), format_version);
  }
  const auto step = seal["step"].get<std::uint64_t>();
  if (const auto named = step_of(path); named && *named != step) {
    fail(ErrorKind::data, "the checkpoint '{}' is damaged: it says step {}", path.string(), step);
  }
  const std::string damage = find_damage(seal, step, content);
  if (!damage.empty()) fail(ErrorKind::data, "the checkpoint '{}' is damaged: {}", path.string(), damage);

  Checkpoint checkpoint{.step = step, .state = {}};
  for (const auto& [name, array] : content.arrays()) checkpoint.state.put_array(name, array);
  for (const auto& [name, text] : content.texts()) {
    if (name != seal_key) checkpoint.state.put_text(name, text);
  }
  return checkpoint;
}

std::optional<Checkpoint> load_latest_checkpoint(const fs::path& directory) {
  const Generations generations = find_generations(directory);
  if (generations.empty()) return std::nullopt;
  std::string reasons;
  for (const auto& [step, path] : generations) {
    try {
      return load_checkpoint(path);
    } catch (const Error& error) {
      log_warning("{}; looking for an older one", error.what());
      reasons += fmt::format("\n  {}", error.what());
    }
  }
  fail(ErrorKind::data, "no intact checkpoint in '{}':{}", directory.string(), reasons);
}

}  // namespace stein
