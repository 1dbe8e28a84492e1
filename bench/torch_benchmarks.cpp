// The benchmarks whose measures are in stein::bench_torch, so that naming them loads no LibTorch. Left out of a build
// without LibTorch.
#include <stein/bench/benchmark.h>
#include <stein/bench/gpu.h>

namespace stein::bench {
namespace {

[[maybe_unused]] const bool registered[] = {
    register_torch_benchmark("a2c", "A2C on CartPole-v1: steps a second, and the time to solve it"),
    register_torch_benchmark("captions", "hypotheses of captions that a beam search extends a second, against LibTorch",
                             Cores::all),
    register_torch_benchmark("decision",
                             "one context through 20 particles of 117-50-50-2, against LibTorch's batched forward"),
    register_torch_benchmark("lm", "a training step of a word-level LSTM by each method, against plain SGD in LibTorch",
                             Cores::all),
    register_torch_benchmark(
        "lm-gpu",
        "tokens that a word-level LSTM learns a second on a GPU by each method, against plain SGD in LibTorch",
        Cores::one, check_gpu),
    register_torch_benchmark("module",
                             "a training step of a LibTorch module of 6 million weights, and the memory that it takes",
                             Cores::all),
    register_torch_benchmark("neural-linear",
                             "a decision, an interaction learned, and the regressions of neural-linear made anew from "
                             "5,000 interactions, against LibTorch and Eigen"),
    register_torch_benchmark("replay-networks",
                             "an event of a news log through s2vgd, 20 particles, against LibTorch's forward"),
    register_torch_benchmark("rollout", "16 policies 25-10 and their environments together", Cores::all),
    register_torch_benchmark(
        "sampler", "one update of 64 million parameters, against a copy and against tensor operations", Cores::all),
    register_torch_benchmark("svgd",
                             "kernel and update of SVGD, against the rate of matrix products of the same shape"),
    register_torch_benchmark("supervised",
                             "updates of ensembles and chains on images and on a table, against LibTorch autograd",
                             Cores::all),
    register_torch_benchmark(
        "svpg", "an iteration of Stein policy gradient: rollouts, gradients and the Stein step of 16 particles",
        Cores::all),
    register_torch_benchmark("update",
                             "one update of 20 particles of 117-50-50-2 from 64 rows, against LibTorch autograd"),
};

}  // namespace
}  // namespace stein::bench
