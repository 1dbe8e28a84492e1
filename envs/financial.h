// Which portfolio to hold today: prices of stocks as a bandit (Riquelme, Tucker & Snoek 2018, "Deep Bayesian Bandits
// Showdown").
#pragma once

#include <stein/envs/table_bandit.h>

#include <string>

namespace stein::envs {

/// Every step shows a day by the differences of 21 stocks' prices between end and beginning of the session; an arm is
/// one of 8 portfolios, and its reward x·β + σξ, ξ ~ N(0, 1). Weights β are uniform on (−1, 1), then scaled to unit
/// length; they are drawn once for each arm.
///
/// The file raw_stock_contexts, as the Showdown's published code reads it: text, one line that is passed over (a
/// header), then a line a day with 21 numbers separated by blanks; 3,713 days there. No checksum of it is recorded: any
/// file of this form is taken, so one's own prices may stand in it.
class Financial final : public TableBandit {
 public:
  static constexpr std::int64_t stocks = 21, arms = 8;

  /// Noise, and which portfolios.
  struct Options {
    double noise = 0.01;  ///< σ, as in the Showdown
    std::int64_t instance = 0;
    bool standardize = false;  ///< the Showdown does not
    template <class V>
    void describe(V& v) {
      v("noise", noise, "standard deviation of every reward", non_negative, "reward");
      v("instance", instance, "seed of the portfolios", non_negative);
      v("standardize", standardize,
        "shift and scale each number of the context to mean 0 and deviation 1; rewards stay");
    }
  };

  /// Throws Error(data) where the file is absent or is not of the form above, naming file and line.
  Financial(const Options& options, const DataSource& source);

 private:
  Financial(const Options& options, const Table& prices, std::string name);
};

}  // namespace stein::envs
