// A table with classes that needs no file: rings, of which a linear policy learns nothing but their shares.
#pragma once

#include <stein/envs/classification.h>

#include <cstdint>
#include <vector>

namespace stein::envs {

/// Rows x ~ N(0, I). With two fixed directions u and v of unit length, orthogonal to each other and drawn with the
/// table, (u·x)² + (v·x)² is χ² with two degrees of freedom, so s = 1 − exp(−((u·x)² + (v·x)²) / 2) is uniform on
/// (0, 1). Class k is that of the ring in which s lies between the shares of the classes before k and those up to k;
/// class k of K has the share (1 + k)⁻³ / Σ_j (1 + j)⁻³: 84, 10, 3, 1.3, .7, .4 and .2 % of seven.
///
/// The class follows from x without noise and is even in x. So Cov(x, 1{class k}) = 0 for every k: in many rows the
/// best linear policy always pulls arm 0 and is wrong in the share of all other classes.
class SyntheticClassification final : public Classification {
 public:
  /// Sizes, and which table.
  struct Options {
    std::int64_t arms = 7;
    std::int64_t columns = 9;
    std::int64_t rows = 43'500;
    std::int64_t instance = 0;
    template <class V>
    void describe(V& v) {
      v("arms", arms, "classes, which are the arms", between(2, 1000));
      v("columns", columns, "numbers in a context", between(2, 10'000));
      v("rows", rows, "rows in the table; rows x columns may be 100 million at most", between(1, 1e7));
      v("instance", instance, "seed of the table", non_negative);
    }
  };

  /// Throws Error(usage) for a table with more than 10⁸ cells.
  SyntheticClassification(const Options& options, const DataSource& source);

  /// Share of each of `arms` classes.
  static std::vector<double> shares(std::int64_t arms);
};

}  // namespace stein::envs
