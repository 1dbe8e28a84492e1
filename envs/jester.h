// Which joke to tell: ratings of jokes as a bandit (Riquelme, Tucker & Snoek 2018, "Deep Bayesian Bandits Showdown").
#pragma once

#include <stein/envs/table_bandit.h>

#include <string>

namespace stein::envs {

/// Every step shows a person by the ratings, from −10 to 10, that this person gave to 32 jokes; an arm is one of 8
/// others, its reward the rating. Ratings are without noise, so expected rewards are the ratings themselves.
///
/// The table has the 40 most rated jokes of the first part of Jester's data set 1 and the 19,181 persons who rated all
/// of them: as many as in the Showdown, whose choice and order of jokes are not published. Context are the first 32 of
/// them by their number, as they are in the file; arms the last 8, named by their number in Jester.
class Jester : public TableBandit {
 public:
  static constexpr std::int64_t seen = 32, arms = 8;

  /// How ratings are shown.
  struct Options {
    bool standardize = false;  ///< the Showdown does not
    template <class V>
    void describe(V& v) {
      v("standardize", standardize,
        "shift and scale each rating of the context to mean 0 and deviation 1; rewards stay");
    }
  };

  /// Reads jester_19181x40.csv: a header with numbers of jokes, then a line a person. Throws Error(data) where it is
  /// absent, altered or damaged.
  Jester(const Options& options, const DataSource& source);

 protected:
  /// A table of 40 columns of ratings; `data` and `source` are what the spec says of it.
  Jester(const Options& options, const Table& ratings, std::string name, std::string data, std::string source);
};

/// The same game with made-up persons and jokes: needs no file. A person is z ~ N(0, I) of four dimensions, a joke has
/// a level m ~ N(0, ¼) and a loading l ~ N(0, I / 4) of as many, and the rating is 10 tanh(m + l·z + ξ / 2), ξ ~ N(0,
/// 1).
class SyntheticJester final : public Jester {
 public:
  /// Those of the real ratings, and which persons are made up.
  struct Options : Jester::Options {
    std::int64_t rows = 19'181;
    std::int64_t instance = 0;
    template <class V>
    void describe(V& v) {
      Jester::Options::describe(v);
      v("rows", rows, "persons in the table", between(1, 1e6));
      v("instance", instance, "seed of the table", non_negative);
    }
  };

  SyntheticJester(const Options& options, const DataSource& source);
};

}  // namespace stein::envs
