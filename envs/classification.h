// Tables with classes as bandits: which class has this row? (Riquelme, Tucker & Snoek 2018, "Deep Bayesian Bandits
// Showdown".)
#pragma once

#include <stein/envs/table_bandit.h>

#include <string>
#include <string_view>

namespace stein::envs {

/// Arms are the classes of a table: the arm of the row's class pays 1, every other 0. So the best arm of every context
/// pays 1, and regret counts mistakes. A uniform choice among K arms has a reward of standard deviation √(K − 1) / K,
/// whatever the shares of the classes.
class Classification : public TableBandit {
 public:
  /// Where a table is from: what the spec says of it.
  struct Origin {
    std::string name;
    std::string data;      ///< "real", or "synthetic"
    std::string source;    ///< paper or formula; names and checksums of the table's files are put behind it
    std::string notice{};  ///< what a user is to be told of the table in a sentence; empty: nothing
  };

  /// Arms are the categories of the column `target`, in their order, those without a row included; all other columns
  /// are context, standardised as ContextTable says.
  /// @throws Error(data) naming the column: a target of numbers, with a missing cell or with fewer than two categories,
  ///         and as ContextTable; Error(usage) for a target that is no column
  Classification(const Table& table, std::string_view target, Origin origin);
};

}  // namespace stein::envs
