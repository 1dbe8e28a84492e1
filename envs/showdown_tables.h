// Classes of published tables as bandits, as in the Deep Bayesian Bandits Showdown (Riquelme, Tucker & Snoek 2018, and
// the code published with it): every column of numbers and every category standardised.
#pragma once

#include <stein/envs/classification.h>

namespace stein::envs {

/// Of a bandit that has nothing to choose.
struct NoOptions {
  template <class V>
  void describe(V&) {}
};

/// Statlog Shuttle: the state of a radiator, seven classes of which the largest has 78 % of the rows, by nine numbers.
/// The 43,500 rows of shuttle.trn, as in the Showdown.
class Shuttle final : public Classification {
 public:
  using Options = NoOptions;  ///< nothing to choose
  /// Throws Error(data) where the files are absent, altered or damaged; so do the others.
  Shuttle(const Options& options, const DataSource& source);
};

/// Covertype: the tree that covers a plot of forest, seven classes, by 54 columns; all 581,012 rows. The 44 columns
/// that are 0 or 1 are standardised like the others. The Showdown's code takes the first row for a header and so has
/// one row less.
class Covertype final : public Classification {
 public:
  using Options = NoOptions;  ///< nothing to choose
  Covertype(const Options& options, const DataSource& source);
};

/// The first 15,120 rows of Covertype, 2,160 of each class. Columns of soil types that do not occur in them are 0.
class SmallCovertype final : public Classification {
 public:
  using Options = NoOptions;  ///< nothing to choose
  SmallCovertype(const Options& options, const DataSource& source);
};

/// Adult, the census of 1994: 45,222 persons, training and test part together, without the 3,620 of whom something is
/// not known. Who is asked for one column sees the others: 92 numbers for an occupation, 104 for an income. The
/// Showdown, which asks for occupations, counts 94: as many as there are where `>50K` and `>50K.`, the test part's
/// spelling, are two categories.
class Adult final : public Classification {
 public:
  /// What is asked for.
  enum class Target {
    occupation,  ///< one of 14
    income,      ///< up to 50,000 dollars a year, or more
  };
  /// Which column has the arms.
  struct Options {
    Target target = Target::occupation;
    template <class V>
    void describe(V& v) {
      v("target", target, "what is asked for: one of 14 occupations, or income above 50,000 or not",
        {{"occupation", Target::occupation}, {"income", Target::income}});
    }
  };
  Adult(const Options& options, const DataSource& source);
};

/// US Census 1990: the occupation (`dOccup`), nine classes, of 2,458,285 persons by 67 columns of categories, one-hot.
/// Takes 140 bytes a person, 340 MB, and 670 MB more while it is read, for every seed.
class Census final : public Classification {
 public:
  using Options = NoOptions;  ///< nothing to choose
  Census(const Options& options, const DataSource& source);
};

}  // namespace stein::envs
