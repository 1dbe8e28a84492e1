// The weights of SVGD's kernel that a block of a GPU makes, its threads run on the host by loops, against the host's
// weights from the same distances.
#include <stein/inference/cuda/stein_weights_body.h>
#include <stein/inference/samplers/svgd_kernel.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "inference/cuda/kernel_loops.h"
#include "inference/cuda/near_rows.h"

using namespace stein;
using namespace stein::inference;
using cuda::PairGrid, cuda::PairTerm;
using test::drawn, test::ThreadOrder, test::whole_numbers;

namespace {

/// Weights that the threads of the kernel make from rows, and the host's from the same distances.
struct MadeWeights {
  std::vector<cuda::FourDoubles> found, expected;
  KernelWeights by_host;
};
MadeWeights make_weights(const SvgdKernelOptions& options, const Matrix<float>& rows, ThreadOrder order) {
  const std::int64_t count = rows.rows();
  const PairGrid grid(count, rows.columns());
  std::vector<double> sums(static_cast<std::size_t>(grid.ranges * grid.sums()));
  std::vector<double> totals(static_cast<std::size_t>(grid.sums())), matrix(static_cast<std::size_t>(count * count));
  if (options.kernel == SvgdKernel::linear)
    test::for_each_phase(cuda::PairSums<PairTerm::product>{{.values = rows.view()}, grid, sums.data()}, order);
  else
    test::for_each_phase(cuda::PairSums<PairTerm::squared_difference>{{.values = rows.view()}, grid, sums.data()},
                         order);
  test::for_each_index(grid.sums(), cuda::RangeSum{sums.data(), grid.ranges, grid.sums(), totals.data()});
  cuda::pair_matrix(grid, totals, matrix);
  MadeWeights made;
  kernel_weights(options, matrix, count, made.by_host);
  made.expected = cuda::by_tiles(made.by_host, count);
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  cuda::SteinWeights places{.rows = count, .with_positions = options.kernel == SvgdKernel::imq};
  made.found.assign(static_cast<std::size_t>(places.size()), {{nothing, nothing, nothing, nothing}});
  places.numbers = made.found.data();
  const cuda::BandwidthNumbers numbers{.fixed = options.bandwidth_rule == Bandwidth::fixed,
                                       .over_pairs = options.median_over == MedianOver::pairs,
                                       .given = options.bandwidth,
                                       .scale = median_scale(options.bandwidth_rule),
                                       .log_count = std::log(static_cast<double>(count) + 1)};
  test::for_each_phase(cuda::MakeSteinWeights{options.kernel, numbers, grid, sums.data(), places}, order);
  return made;
}

/// The same bits, in every number that an update reads. Where all particles are at one place the host gives the IMQ
/// kernel no weights of positions, the threads zeros.
void check_weights(const SvgdKernelOptions& options, const Matrix<float>& rows, ThreadOrder order) {
  MadeWeights made = make_weights(options, rows, order);
  CAPTURE(static_cast<int>(options.kernel), static_cast<int>(options.bandwidth_rule),
          static_cast<int>(options.median_over), rows.rows(), rows.columns());
  REQUIRE(made.found.size() >= made.expected.size());
  made.expected.resize(made.found.size());
  made.found[0].number[2] = made.found[0].number[3] = 0;  // nobody reads them
  for (std::size_t k = 0; k < made.found.size(); ++k)
    for (int r = 0; r < cuda::tile_rows; ++r) REQUIRE(made.found[k].number[r] == made.expected[k].number[r]);
}

}  // namespace

TEST_CASE("the block that makes the weights of SVGD's kernel has the median and the weights of the host",
          "[inference][cuda][svgd][parity]") {
  using Rule = Bandwidth;
  // 2, 3: the smallest even and odd numbers of distances; 45: the most rows; ties by whole numbers.
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 8, 20, 21, 44, 45})
    for (const std::int64_t columns : {1, 9, 9001})
      for (const SvgdKernel kernel : {SvgdKernel::rbf, SvgdKernel::imq, SvgdKernel::linear})
        for (const Rule rule : {Rule::median, Rule::half_median, Rule::fixed})
          for (const MedianOver over : {MedianOver::matrix, MedianOver::pairs}) {
            const SvgdKernelOptions options{
                .kernel = kernel, .bandwidth_rule = rule, .median_over = over, .bandwidth = 1.7};
            const ThreadOrder order = rows % 2 == 0 ? ThreadOrder::up : ThreadOrder::down;
            check_weights(options, drawn({rows, columns}), order);
            if (columns == 9) check_weights(options, whole_numbers({rows, columns}), order);
          }
}

TEST_CASE("particles at one place, and more than half of them, have a bandwidth of 0 and push nobody",
          "[inference][cuda][svgd][parity]") {
  Matrix<float> together(5, 7), most(6, 7);
  together.fill(3), most.fill(3);
  most.view()(5, 2) = 4;  // of 36 distances 26 are zeros, of 15 pairs 10
  for (const SvgdKernel kernel : {SvgdKernel::rbf, SvgdKernel::imq})
    for (const MedianOver over : {MedianOver::matrix, MedianOver::pairs})
      for (const Matrix<float>* rows : {&together, &most}) {
        check_weights({.kernel = kernel, .median_over = over}, *rows, ThreadOrder::down);
        CHECK(make_weights({.kernel = kernel, .median_over = over}, *rows, ThreadOrder::up).by_host.bandwidth == 0);
      }
}
