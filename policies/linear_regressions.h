// Ridge regressions of the reward on the context and the features of arms, kept as triangular factors: what LinUCB and
// Bayesian linear Thompson sampling are made of.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>
#include <stein/inference/storage/aligned_buffer.h>
#include <stein/policies/triangular_factor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::policies {

struct InteractionBatch;

/// Which coefficients an arm's expected reward has, with x the context (and a constant 1 after it if there is an
/// intercept), f_a the features of arm a, and z_a = x ⊗ f_a (all x_i f_j; f_a alone where x has no column).
enum class RegressionForm {
  disjoint,  ///< x·θ_a: all of them the arm's own
  common,    ///< z_a·β: all of them shared by all arms
  hybrid,    ///< x·θ_a + z_a·β (Li, Chu, Langford & Schapire 2010)
};

/// Describes the option `regression`.
template <class V>
void describe_regression(V& v, RegressionForm& form) {
  v("regression", form,
    "the expected reward of arm a: x.theta_a (disjoint), z_a.beta with z_a the products of every context column and "
    "every feature of the arm (common), or the sum of both (hybrid); those with z_a need arms with features",
    {{"disjoint", RegressionForm::disjoint}, {"common", RegressionForm::common}, {"hybrid", RegressionForm::hybrid}})
      .in_older_runs("disjoint");
}

/// The posterior mean μ = A⁻¹b of all coefficients γ, with w the row of an interaction (x in the columns of its arm's
/// own coefficients, z_a in the shared ones, zeros elsewhere), A = λI + Σ w wᵀ and b = Σ r w; and what it leaves
/// unexplained. μ is never formed.
///
/// Kept is the Cholesky factor of [A b; bᵀ s₀ + Σ r²], own coefficients before shared ones: every arm has the d columns
/// of its own, which reach into the rows of the k shared ones, and one factor is shared. An interaction is a sweep of
/// Givens rotations over its arm's columns, and one of what they leave over the shared factor: O(d (d + k) + k²),
/// backward stable for any number of them. The last row is (L⁻¹b)ᵀ and its last number the root of `squares`, so
/// nothing is obtained as a difference of large numbers. Disjoint regressions share nothing, also not `squares`.
///
/// An arm that was never observed has the factor of the prior; one of its own it gets with its first interaction.
class LinearRegressions {
 public:
  /// What the regressions are of, and their prior.
  struct Setup {
    RegressionForm form = RegressionForm::disjoint;
    bool intercept = true;
    double prior_precision = 1;  ///< λ > 0
    double prior_squares = 0;    ///< s₀ ≥ 0
  };
  /// Throws Error(usage) naming the option `regression` where it needs features that arms do not have, and where a
  /// single arm would need more than 2 GiB. Arms of a log are only as many as there may be, so the bound is otherwise
  /// on those that were observed: `observe` and `restore` throw where these would need more.
  LinearRegressions(const envs::BanditSpec& spec, const Setup& setup);

  /// What the regressions say of an arm in a context, with w the row that its interaction would have.
  struct Prediction {
    double mean = 0;      ///< w·μ
    double leverage = 0;  ///< wᵀA⁻¹w
  };
  /// The prediction of every arm that can be chosen, [choices], valid until the next call. Throws Error(usage) for a
  /// context of another shape.
  std::span<const Prediction> predict(const envs::Context& context);
  /// Adds an interaction, as often as its weight says. Throws Error(usage) for a context of another shape, an arm that
  /// cannot be chosen, a reward that is not finite, or a weight that is not finite and ≥ 0.
  void observe(const envs::Context& context, std::int64_t arm, double reward, double weight = 1);
  /// Forgets all interactions and adds those of a window: the factors that `observe` gives, to rounding, which is that
  /// of sums of products (see reference::factorise) unless a pivot would lose half of its digits to it; regressions
  /// whose pivots would, and hybrid ones, are made row by row. Throws what `observe` throws, and Error(usage) for
  /// arrays of another length.
  void make_anew(const InteractionBatch& window);

  /// The sum of the weights of all interactions that `squares` is of: those of the arm if regressions are disjoint.
  double observations(std::int64_t arm) const { return observations_[sum_of(arm)]; }
  /// s₀ + min over γ of Σ (r − w·γ)² + λ‖γ‖².
  double squares(std::int64_t arm) const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state has another shape, Error(usage) if it needs more than 2 GiB.
  void restore(const Snapshot& snapshot);

 private:
  using Numbers = inference::AlignedBuffer<double>;

  bool disjoint() const { return form_ == RegressionForm::disjoint; }
  /// Where the interactions of an arm are counted.
  std::size_t sum_of(std::int64_t arm) const { return disjoint() ? static_cast<std::size_t>(arm) : 0; }
  /// Writes x to context_.
  void load(const envs::Context& context);
  /// Writes the row of an interaction, with its reward, times the root of its weight; throws what `observe` throws.
  void write_row(const envs::Context& context, std::int64_t arm, double reward, double weight, double* row);
  /// Writes x, z_a of the arm in a place, and 0 to a row, and zeros or nothing to at most 8 numbers behind it.
  void fill_row(const envs::Context& context, std::size_t place, double* row);
  void eliminate_own(std::span<const double* const> factors);
  /// What own columns have left of the first so many rows: those of the shared factor.
  double* remainders(std::size_t choices);
  void make_room(std::size_t choices);
  /// Makes a factor the prior's, which is diagonal: `coefficients` columns, and the one behind them if there is one.
  void set_prior(const FactorShape& shape, std::size_t coefficients, Numbers& factor) const;
  /// The factor of an arm's own; made from the prior's if there is none.
  Numbers& own_factor(std::int64_t arm);
  /// The regressions of no interaction.
  void forget();
  /// Sorts the interactions of a window by whose regression they are of: order_ and their ends.
  void sort(const InteractionBatch& window);
  /// Writes the row of interaction `number` of a window.
  void write_row(const InteractionBatch& window, std::int32_t number, double* row);
  /// Makes a factor that of some interactions of a window.
  void regress(const InteractionBatch& window, std::span<const std::int32_t> which, Numbers& factor);
  void restore_older(const Snapshot& snapshot);

  envs::BanditSpec spec_;
  RegressionForm form_;
  bool intercept_;
  double prior_diagonal_, prior_last_;   ///< √λ and √s₀: the diagonal of the prior's factor
  std::size_t context_columns_;          ///< of x
  std::size_t own_columns_;              ///< d
  std::size_t shared_columns_;           ///< k
  FactorShape own_, shared_;             ///< that of an arm has the last column too if regressions are disjoint
  std::vector<std::int32_t> place_of_;   ///< [arms] in own_factors_; 0: the prior's
  std::vector<std::int32_t> observed_;   ///< arms by their place, but the first, in own_factors_
  std::vector<Numbers> own_factors_;     ///< that of the prior, then those of observed arms
  Numbers shared_factor_;                ///< with the last column; empty if regressions are disjoint
  std::vector<double> observations_;     ///< [arms] sums of weights, or [1]
  Numbers context_;                      ///< x, and zeros to the end of a row
  std::vector<double> features_;         ///< f_a, and zeros to whole blocks
  Numbers own_rows_, shared_rows_;       ///< [choices] rows
  std::vector<const double*> factors_;   ///< [choices]
  std::vector<double> leverages_;        ///< [choices]
  std::vector<Prediction> predictions_;  ///< [choices]
  std::vector<std::int32_t> order_;      ///< interactions of a window, sorted
  std::vector<std::size_t> ends_;        ///< in order_, of those of each arm, or of all
  Numbers block_;                        ///< rows that are added together
};

}  // namespace stein::policies
