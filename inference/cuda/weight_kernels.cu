#include <stein/inference/cuda/lane_sums.h>
#include <stein/inference/cuda/launch.h>
#include <stein/inference/cuda/weight_kernels.h>

namespace stein::inference::cuda {

template <class Body>
void for_each_number(std::int64_t count, const Body& body, GpuStream stream) {
  launch(count, body, stream);
}

template <class Body>
void for_each_noise_group(const NoiseGroups& noise, const Body& body, GpuStream stream) {
  launch(noise.groups(), body, stream);
}

template <class Term>
void add_up_terms(std::int64_t count, const Term& term, double* sums, GpuStream stream) {
  launch(sum_blocks(count) * sum_lanes, LaneTerms<Term>{term, count, sums}, stream);
}

#define STEIN_NUMBERS(Body) template void for_each_number(std::int64_t, const Body&, GpuStream);
STEIN_NUMBERS(AddMixture)
STEIN_NUMBERS(PullBackRate)
STEIN_NUMBERS(WidenNumber)
STEIN_NUMBERS(AddSpikeAndSlab)
STEIN_NUMBERS(MoveSlabShare)
STEIN_NUMBERS(SpreadNumber)
STEIN_NUMBERS(PackSum)
STEIN_NUMBERS(ShiftNumber)
STEIN_NUMBERS(ScaleNumber)
STEIN_NUMBERS(AddRowMixture)
STEIN_NUMBERS(DropWeight)
STEIN_NUMBERS(PullBackDropped)
STEIN_NUMBERS(AddSquare)
STEIN_NUMBERS(PullBackMatrixMean)
STEIN_NUMBERS(PullBackMatrixScale<true>)
STEIN_NUMBERS(PullBackMatrixScale<false>)
#undef STEIN_NUMBERS

template void for_each_noise_group(const NoiseGroups&, const DrawWeights&, GpuStream);
template void for_each_noise_group(const NoiseGroups&, const PullBackWeights&, GpuStream);
template void for_each_noise_group(const NoiseGroups&, const SharpenWeights&, GpuStream);
template void for_each_noise_group(const NoiseGroups&, const DrawMatrix&, GpuStream);
template void for_each_noise_group(const NoiseGroups&, const AddNoise&, GpuStream);

#define STEIN_TERMS(Term) template void add_up_terms(std::int64_t, const Term&, double*, GpuStream);
STEIN_TERMS(LogDeviationTerm)
STEIN_TERMS(ExpectedSquareTerm)
STEIN_TERMS(MixtureTerm)
STEIN_TERMS(SharpeningTerm)
STEIN_TERMS(SpikeTerm)
STEIN_TERMS(SlabTerm)
STEIN_TERMS(NumberTerm<float>)
STEIN_TERMS(NumberTerm<double>)
STEIN_TERMS(SquaredScaleTerm)
STEIN_TERMS(SquareTerm)
STEIN_TERMS(RowMixtureTerm)
STEIN_TERMS(SquareOverTerm)
#undef STEIN_TERMS

}  // namespace stein::inference::cuda
