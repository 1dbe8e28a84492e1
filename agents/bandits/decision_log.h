// The decision log: every choice of every repetition with the probability it was made with, so that others can replay
// it.
#pragma once

#include <stein/agents/bandits/bandit_agent.h>
#include <stein/core/append_file.h>

#include <cstdint>
#include <filesystem>

namespace stein::agents {

/// Takes interactions in a fixed order: by step, then by seed.
class DecisionSink {
 public:
  virtual ~DecisionSink() = default;
  virtual void interaction(std::uint64_t seed, const Interaction& interaction) = 0;
};

/// One JSON line an interaction, with the keys seed, step, row, action, reward, expected_rewards, propensities,
/// deterministic; numbers in the shortest form that reads back to the same double. To resume, cut the file with
/// `truncate_file` to a stored `sync()` first.
class DecisionLog final : public DecisionSink {
 public:
  /// Throws Error(io) if `path` cannot be written.
  explicit DecisionLog(std::filesystem::path path) : file_(std::move(path)) {}

  void interaction(std::uint64_t seed, const Interaction& interaction) override;
  /// Flushes to the disk and returns the length of the file [bytes]. Throws Error(io).
  std::uint64_t sync();

 private:
  AppendFile file_;
};

}  // namespace stein::agents
