#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/scratch.h>
#include <stein/inference/cuda/send_home.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace stein::inference::cuda {
namespace {

/// Page-locked memory for one copy at a time, and what says that the copy is over.
class LandingPlace {
 public:
  LandingPlace() { check(cudaEventCreateWithFlags(&over_, cudaEventDisableTiming), "use a GPU"); }
  LandingPlace(const LandingPlace&) = delete;
  LandingPlace& operator=(const LandingPlace&) = delete;
  /// At the end of the program CUDA may be gone before: nothing is left to do then.
  ~LandingPlace() {
    static_cast<void>(cudaEventDestroy(over_));
    static_cast<void>(cudaFreeHost(memory_));
  }

  /// @param from  while nothing else is under way to this place
  void copy(const double* from, std::size_t count) {
    if (count > count_) {
      static_cast<void>(cudaFreeHost(memory_));
      memory_ = nullptr, count_ = 0;
      check(cudaHostAlloc(&memory_, count * sizeof(double), cudaHostAllocPortable),
            "get page-locked memory of the host");
      count_ = count;
    }
    check(cudaMemcpyAsync(memory_, from, count * sizeof(double), cudaMemcpyDeviceToHost, first_stream),
          "copy from the GPU");
    check(cudaEventRecord(over_, first_stream), "copy from the GPU");
  }
  /// Whether nothing is under way any more.
  bool is_over() const { return cudaEventQuery(over_) == cudaSuccess; }
  const double* wait() const {
    check(cudaEventSynchronize(over_), "run a kernel");
    return static_cast<const double*>(memory_);
  }

 private:
  cudaEvent_t over_ = nullptr;  ///< of the GPU that it was made for
  void* memory_ = nullptr;
  std::size_t count_ = 0;
};

/// The landing places of a GPU that nobody has. Numbers may be given up while they are under way: such a place is not
/// taken again before they are here.
class LandingPlaces {
 public:
  std::unique_ptr<LandingPlace> take() {
    const std::lock_guard lock(mutex_);
    for (auto& place : idle_) {
      if (!place->is_over()) continue;
      std::swap(place, idle_.back());
      std::unique_ptr<LandingPlace> found = std::move(idle_.back());
      idle_.pop_back();
      return found;
    }
    return std::make_unique<LandingPlace>();
  }
  void give_back(std::unique_ptr<LandingPlace> place) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(place));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<LandingPlace>> idle_;
};

/// Those of a GPU, which stay to the end of the program: numbers may be under way as long.
LandingPlaces& places_of(std::int32_t gpu) {
  static auto& mutex = *new std::mutex;
  static auto& places = *new std::map<std::int32_t, LandingPlaces>;
  const std::lock_guard lock(mutex);
  return places[gpu];
}

class NumbersUnderWay final : public LateNumbers {
 public:
  NumbersUnderWay(std::int32_t gpu, const double* from, std::size_t count)
      : places_(places_of(gpu)), place_(places_.take()), count_(count) {
    place_->copy(from, count);
  }
  NumbersUnderWay(const NumbersUnderWay&) = delete;
  NumbersUnderWay& operator=(const NumbersUnderWay&) = delete;
  ~NumbersUnderWay() override { places_.give_back(std::move(place_)); }
  std::span<const double> wait() override { return {place_->wait(), count_}; }

 private:
  LandingPlaces& places_;
  std::unique_ptr<LandingPlace> place_;
  std::size_t count_;
};

}  // namespace

std::unique_ptr<LateNumbers> send_home(std::int32_t index, const double* from, std::size_t count) {
  const CurrentDevice device(index);
  return std::make_unique<NumbersUnderWay>(index, from, count);
}

}  // namespace stein::inference::cuda
