// What simulated bandits and logs of real ones have in common: arms, and the contexts in which one of them is chosen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stein::envs {

/// What one number of a context is where contexts are rows of a table: a column of numbers, or whether a column of
/// categories has one of them; less its mean, divided by its deviation.
struct ContextNumber {
  std::string column;
  std::optional<std::string> category{};  ///< the number is 1 where the row has it, else 0; none: the column's number
  double mean = 0, deviation = 1;

  /// The number of a context that stands for this one of the table.
  float standard(double number) const { return static_cast<float>((number - mean) / deviation); }
};

/// What a policy needs to know of a bandit before it meets it.
struct BanditSpec {
  std::string name;
  std::int64_t arms = 0;            ///< arms are numbered 0 … arms − 1; of a log, the most that there may be
  std::int64_t context_size = 0;    ///< columns of the context as a dense vector
  std::int64_t active_columns = 0;  ///< > 0: the context is one-hot, always with this many ones; 0: dense numbers
  std::int64_t arm_features = 0;    ///< numbers that every arm brings to a context; 0: none
  double reward_low = 0;            ///< smallest expected reward of any arm
  double reward_high = 0;           ///< largest expected reward of any arm
  bool bounded = false;             ///< single rewards lie between the two as well: clicks do
  /// sd of the rewards of uniformly drawn arms: the scale that makes rewards of unit spread. None: not known.
  std::optional<double> reward_deviation = std::nullopt;
  std::string data;                            ///< "real", or "synthetic"
  std::string source;                          ///< paper, file and checksum, or formula that it follows
  std::map<std::string, std::string> files{};  ///< of a table that was read: name → SHA-256
  std::vector<std::string> arm_names{};  ///< [arms], or empty where arms are just numbered, or are not known before
  std::string notice{};                  ///< what a user is to be told of the data in a sentence, such as rows left out
  std::vector<ContextNumber> numbers{};  ///< [context_size] of contexts that are rows of a table; else empty

  /// Numbers of a context that is not one-hot.
  std::int64_t dense_columns() const { return active_columns > 0 ? 0 : context_size; }
};

/// What is seen before a choice: the context that all arms share, either dense numbers or the columns that are one; who
/// is there; and what every arm brings.
struct Context {
  std::span<const float> dense{};           ///< [context_size], or empty
  std::span<const std::int32_t> active{};   ///< [active_columns] ascending, or empty
  std::span<const std::int32_t> present{};  ///< [choices] arms that can be chosen, each once; empty: all arms
  std::span<const float> arm_features{};    ///< [choices · arm_features], those of one arm after the other, or empty

  /// How many arms can be chosen.
  std::int64_t choices(const BanditSpec& spec) const { return present.empty() ? spec.arms : std::ssize(present); }
  /// The arm in a place, 0 ≤ place < choices.
  std::int64_t arm(std::int64_t place) const {
    return present.empty() ? place : present[static_cast<std::size_t>(place)];
  }
  /// Throws Error(usage) naming the bandit unless the arm can be chosen.
  std::int64_t place_of(std::int64_t arm, const BanditSpec& spec) const;
  /// Throws Error(usage) naming the bandit and what differs unless the context has the bandit's shape: sizes, columns
  /// and arms in their ranges, at least one arm.
  void check(const BanditSpec& spec) const;
};

/// Throws Error(usage) naming the bandit and what differs unless so many numbers, active columns and features of
/// `choices` arms are those of a context of the bandit.
void check_sizes(const BanditSpec& spec, std::int64_t dense, std::int64_t active, std::int64_t arm_features,
                 std::int64_t choices);

/// Throws Error(usage) naming the bandit unless 0 ≤ arm < spec.arms.
void check_arm(const BanditSpec& spec, std::int64_t arm);

}  // namespace stein::envs
