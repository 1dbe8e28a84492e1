// Bandits over the rows of a table, whose rewards are known for every row and every arm.
#pragma once

#include <stein/envs/bandit_environment.h>
#include <stein/envs/context_table.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stein::envs {

/// Every step shows a row of a table, drawn uniformly and with replacement. An arm's reward has the expectation that
/// belongs to the kind of the row, and Gaussian noise, if any. Copies share the table.
class TableBandit : public BanditEnvironment {
 public:
  /// What arms pay.
  struct Rewards {
    std::vector<double> expected{};     ///< [kinds, arms] expected rewards of rows of the same kind
    std::vector<std::int32_t> kinds{};  ///< [rows] kind of each row; empty: row i is of kind i
    double noise = 0;                   ///< standard deviation of every reward
  };

  /// @param spec  name, arms, arm_names, data and source; the rest is filled in. Rewards without noise lie between
  ///              `reward_low` and `reward_high` themselves (`bounded`)
  /// @throws Error(usage) if there are not two arms or more, or not as many rewards as contexts and arms ask for
  TableBandit(BanditSpec spec, ContextTable contexts, Rewards rewards);

  const BanditSpec& spec() const override { return spec_; }
  Context observe(std::uint64_t seed, std::int64_t step) override;
  std::int64_t row() const override { return row_; }
  std::span<const double> expected_rewards() const override { return expected_from(row_); }
  double reward(std::int64_t arm) override;
  /// For each of the first `most_probes` arms the first row where it is the only best one, named after the arm.
  std::vector<Probe> probes() const override;

  static constexpr std::int64_t most_probes = 20;

 private:
  std::span<const double> expected_from(std::int64_t row) const;
  void fill_in_spec();

  BanditSpec spec_;
  std::shared_ptr<const ContextTable> contexts_;
  std::shared_ptr<const Rewards> rewards_;
  std::uint64_t seed_ = 0;
  std::int64_t step_ = 0, row_ = 0;
  std::vector<float> context_;
};

}  // namespace stein::envs
