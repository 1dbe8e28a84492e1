#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/finite_flag.h>
#include <stein/inference/cuda/step_watch.h>

#include <map>
#include <memory>

namespace stein::inference::cuda {
namespace {

/// Memory for the words of one thread on one GPU. At the end of the program CUDA may be gone before: nothing is left to
/// do then.
class WordsOfGpu {
 public:
  WordsOfGpu() {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(int), cudaHostAllocPortable | cudaHostAllocMapped),
          "get memory of the host that a GPU can write");
    words_.seen = static_cast<int*>(memory);
    *words_.seen = 0;
    check_memory(cudaMalloc(&memory, sizeof(int)), sizeof(int));
    words_.gradient = static_cast<int*>(memory);
    check(cudaMemset(memory, 0, sizeof(int)), "clear memory of the GPU");
  }
  WordsOfGpu(const WordsOfGpu&) = delete;
  WordsOfGpu& operator=(const WordsOfGpu&) = delete;
  /// The one of the GPU first, which waits for the kernels that write them.
  ~WordsOfGpu() { static_cast<void>(cudaFree(words_.gradient)), static_cast<void>(cudaFreeHost(words_.seen)); }

  const StepFlags& words() const { return words_; }

 private:
  StepFlags words_;
};

const StepFlags& words_here() {
  static thread_local std::map<int, std::unique_ptr<const WordsOfGpu>> of_gpus;
  int gpu = 0;
  check(cudaGetDevice(&gpu), "use a GPU");
  std::unique_ptr<const WordsOfGpu>& own = of_gpus[gpu];
  if (own == nullptr) own = std::make_unique<const WordsOfGpu>();
  return own->words();
}

}  // namespace

FiniteFlag::FiniteFlag(MoveWatch* watch)
    : watch_(static_cast<StepWatch*>(watch)),  // the driver's own: GradientSampler has it from there
      words_(watch_ != nullptr ? watch_->words() : words_here()) {
  if (watch_ != nullptr || *words_.seen == 0) return;  // else the step before has left them set
  check(cudaMemset(words_.gradient, 0, sizeof(int)), "clear memory of the GPU");
  *words_.seen = 0;
}

bool FiniteFlag::looks() const {
  return watch_ == nullptr || watch_->looks_first();
}

bool FiniteFlag::finite(GpuStream stream) const {
  check(cudaGetLastError(), "start a kernel");
  if (watch_ != nullptr) return true;
  check(cudaStreamSynchronize(stream), "run a kernel");
  return *words_.seen == 0;
}

}  // namespace stein::inference::cuda
