// Regressions of arms as a user of Eigen writes them for speed. Sizes are known to the compiler where they can be. With
// a regression an arm, xᵀA⁻¹x is the product of the arm's A⁻¹, as a vector, with x xᵀ, which is made once for all arms;
// with one for all arms it is a matrix product over the arms. Included by one source file an instruction set, as
// eigen_density-inl.h is.
#include <stein/bench/eigen_regressions.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace stein::bench {
namespace {

template <int size>
struct Regressions {
  static constexpr int squared = size == Eigen::Dynamic ? Eigen::Dynamic : size * size;
  using Vector = Eigen::Matrix<double, size, 1>;
  using Matrix = Eigen::Matrix<double, size, size>;
  using Squares = Eigen::Matrix<double, squared, 1>;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, size, size == 1 ? Eigen::ColMajor : Eigen::RowMajor>;

  static void predict_each(std::ptrdiff_t d, const EigenSums& sums, const std::int32_t* arms, std::ptrdiff_t choices,
                           const double* context, double* means, double* leverages) {
    const Eigen::Map<const Vector> x(context, d);
    const Matrix outer = x * x.transpose();
    const Eigen::Map<const Squares> products(outer.data(), d * d);
    for (std::ptrdiff_t place = 0; place < choices; ++place) {
      const std::ptrdiff_t arm = arms[place];
      means[place] = x.dot(Eigen::Map<const Vector>(sums.coefficients + arm * d, d));
      leverages[place] = products.dot(Eigen::Map<const Squares>(sums.inverses + arm * d * d, d * d));
    }
  }

  static void predict_all(std::ptrdiff_t d, const EigenSums& sums, std::ptrdiff_t choices, const double* rows,
                          double* means, double* leverages) {
    const Eigen::Map<const Rows> z(rows, choices, d);
    const Eigen::Map<const Matrix> inverse(sums.inverses, d, d);
    static thread_local Rows product;
    product.resize(choices, d);
    product.noalias() = z * inverse;
    Eigen::Map<Eigen::VectorXd>(means, choices).noalias() = z * Eigen::Map<const Vector>(sums.coefficients, d);
    Eigen::Map<Eigen::VectorXd>(leverages, choices) = product.cwiseProduct(z).rowwise().sum();
  }

  static void observe(std::ptrdiff_t d, const EigenSums& sums, std::ptrdiff_t regression, const double* row,
                      double reward) {
    const Eigen::Map<const Vector> x(row, d);
    Eigen::Map<Matrix> inverse(sums.inverses + regression * d * d, d, d);
    Eigen::Map<Vector> moment(sums.moments + regression * d, d), coefficients(sums.coefficients + regression * d, d);
    const Vector along = inverse * x;
    inverse.noalias() -= along * (along / (1 + x.dot(along))).transpose();
    moment += reward * x;
    coefficients.noalias() = inverse * moment;
  }
};

class NormalEquations final : public EigenNormalEquations {
 public:
  NormalEquations(std::ptrdiff_t columns, double prior_precision)
      : prior_precision_(prior_precision), sum_(columns, columns) {
    regress(nullptr, nullptr, 0);
  }

  void regress(const double* rows, const double* rewards, std::ptrdiff_t count) override {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const Rows> w(rows, count, sum_.cols());
    const Eigen::Map<const Eigen::VectorXd> r(rewards, count);
    sum_.setZero();
    sum_.diagonal().setConstant(prior_precision_);
    if (count > 0) sum_.selfadjointView<Eigen::Lower>().rankUpdate(w.transpose());  // of no row it divides by zero
    factor_.compute(sum_);
    moment_.noalias() = w.transpose() * r;
    reward_squares_ = r.squaredNorm();
    solve();
  }
  void observe(const double* row, double reward) override {
    const Eigen::Map<const Eigen::VectorXd> w(row, sum_.cols());
    factor_.rankUpdate(w);
    moment_ += reward * w;
    reward_squares_ += reward * reward;
    solve();
  }
  Prediction predict(const double* row) override {
    solution_ = Eigen::Map<const Eigen::VectorXd>(row, sum_.cols());
    factor_.matrixL().solveInPlace(solution_);
    return {.mean = solution_.dot(half_), .leverage = solution_.squaredNorm()};
  }
  double squares() const override { return reward_squares_ - half_.squaredNorm(); }

 private:
  void solve() {
    half_ = moment_;
    factor_.matrixL().solveInPlace(half_);
  }

  double prior_precision_, reward_squares_ = 0;
  Eigen::MatrixXd sum_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd moment_, half_, solution_;
};

/// Calls `of` with the regressions of so many columns.
template <class Of>
void with_size(std::ptrdiff_t columns, const Of& of) {
  if (columns == 6) return of(Regressions<6>());
  if (columns == 36) return of(Regressions<36>());
  of(Regressions<Eigen::Dynamic>());
}

EigenRegressions regressions_for(std::string instructions) {
  return {
      .instructions = std::move(instructions),
      .predict_each =
          [](std::ptrdiff_t columns, const EigenSums& sums, const std::int32_t* arms, std::ptrdiff_t choices,
             const double* x, double* means, double* leverages) {
            with_size(columns, [&](auto of) { of.predict_each(columns, sums, arms, choices, x, means, leverages); });
          },
      .predict_all =
          [](std::ptrdiff_t columns, const EigenSums& sums, std::ptrdiff_t choices, const double* rows, double* means,
             double* leverages) {
            with_size(columns, [&](auto of) { of.predict_all(columns, sums, choices, rows, means, leverages); });
          },
      .observe =
          [](std::ptrdiff_t columns, const EigenSums& sums, std::ptrdiff_t regression, const double* x, double reward) {
            with_size(columns, [&](auto of) { of.observe(columns, sums, regression, x, reward); });
          },
      .normal_equations = [](std::ptrdiff_t columns, double prior_precision) -> std::unique_ptr<EigenNormalEquations> {
        return std::make_unique<NormalEquations>(columns, prior_precision);
      }};
}

}  // namespace
}  // namespace stein::bench
