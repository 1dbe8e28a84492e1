// A stationary policy that stands in a table.
#pragma once

#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace stein::replay {

/// Draws arms with probabilities from comma-separated values with a header: the columns `arm`, the name, and
/// `propensity`. Arms that are not in the table have none. Where there is a third column called `column`, the table has
/// a distribution for each number in it, which is that of a column of the context, counted from 0, and holds where that
/// column is not zero: one of three, say, that have the position on a page one-hot.
///
/// Where some arms cannot be chosen, the propensities of the others are divided by their sum. It learns nothing.
class FixedPropensities final : public policies::BanditPolicy {
 public:
  /// Where the table is.
  struct Options {
    std::filesystem::path table;

    template <class V>
    void describe(V& v) {
      v("table", table, "file with columns arm, propensity and, if these differ by the context, column");
    }
  };

  static constexpr bool learns = false;

  /// Throws Error(usage) without a table, or where the bandit's arms have no names; Error(data) naming file and line
  /// for a table of another form, an arm or a column that the bandit does not have, an arm that is there twice, a
  /// number that is no probability, and a distribution whose sum is not 1 to six digits; Error(io).
  FixedPropensities(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

  /// Throws Error(data) for a context in which none, or more than one, of the table's columns is not zero, and where
  /// all arms that can be chosen have probability 0.
  policies::Decision decide(const envs::Context& context, std::int64_t step, policies::Propensities wanted) override;

  void save(Snapshot& snapshot) const override;
  /// Throws Error(data) if the table is not the one that was saved.
  void restore(const Snapshot& snapshot) override;

 private:
  void read();
  void check_sums() const;
  std::vector<double> all_propensities() const;
  const std::vector<double>& distribution(const envs::Context& context) const;

  std::string table_;
  envs::BanditSpec spec_;
  std::uint64_t seed_;
  std::map<std::int64_t, std::vector<double>> distributions_;  ///< [arms] by column; −1: of all contexts
  std::vector<double> propensities_;
};

}  // namespace stein::replay
