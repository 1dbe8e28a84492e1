// The mushroom bandit: eat it or leave it (Blundell et al. 2015, "Weight Uncertainty in Neural Networks"; rewards also
// as in Riquelme, Tucker & Snoek 2018, "Deep Bayesian Bandits Showdown").
#pragma once

#include <stein/core/data/mushroom.h>
#include <stein/envs/bandit_environment.h>

#include <array>
#include <memory>

namespace stein::envs {

/// Every step shows a mushroom drawn uniformly from the UCI table, one-hot in 117 columns of which 22 are one. Arm 0
/// passes: reward 0. Arm 1 eats: +5 if edible; if poisonous a loss or +5, with probability ½ each.
class Mushroom : public BanditEnvironment {
 public:
  /// What a poisonous mushroom costs in half the cases.
  enum class Reward {
    paper,     ///< loss −10: expected reward of a poisonous mushroom −2.5
    showdown,  ///< loss −35: expected reward of a poisonous mushroom −15
  };
  /// What a poisonous mushroom costs.
  struct Options {
    Reward reward = Reward::paper;
    template <class V>
    void describe(V& v) {
      v("reward", reward, "loss from a poisonous mushroom, in half the cases: -10 (paper) or -35 (showdown)",
        {{"paper", Reward::paper}, {"showdown", Reward::showdown}});
    }
  };

  static constexpr std::int64_t arms = 2, pass = 0, eat = 1;
  static constexpr double gain = 5;

  /// Reads the UCI table. Throws Error(data) where it is absent, altered or damaged.
  Mushroom(const Options& options, const DataSource& source);

  const BanditSpec& spec() const override { return spec_; }
  Context observe(std::uint64_t seed, std::int64_t step) override;
  std::int64_t row() const override { return row_; }
  std::span<const double> expected_rewards() const override { return expected_; }
  double reward(std::int64_t arm) override;
  /// The first edible and the first poisonous mushroom of the table.
  std::vector<Probe> probes() const override;

 protected:
  /// A table from elsewhere; `data` and `origin` are what the spec says of it.
  Mushroom(Reward reward, MushroomTable table, std::string name, std::string data, const std::string& origin);

 private:
  std::span<const std::int32_t> columns_of(std::int64_t row) const;
  double expected_from_eating(bool is_poisonous) const;
  bool poisonous(std::int64_t row) const { return table_->poisonous[static_cast<std::size_t>(row)] != 0; }

  double loss_;
  std::shared_ptr<const MushroomTable> table_;  ///< one for all copies
  BanditSpec spec_;
  std::uint64_t seed_ = 0;
  std::int64_t step_ = 0, row_ = 0;
  std::array<double, arms> expected_{};
};

/// The same game with the made-up mushrooms of make_synthetic_mushrooms: needs no file.
class SyntheticMushroom final : public Mushroom {
 public:
  /// Those of the real mushrooms, and which are made up.
  struct Options : Mushroom::Options {
    std::int64_t rows = uci_mushroom_rows;
    std::int64_t instance = 0;  ///< which made-up mushrooms
    template <class V>
    void describe(V& v) {
      Mushroom::Options::describe(v);
      v("rows", rows, "mushrooms in the table", between(1, 1e6));
      v("instance", instance, "seed of the table", non_negative);
    }
  };

  SyntheticMushroom(const Options& options, const DataSource& source);
};

}  // namespace stein::envs
