#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/page_locked_memory.h>
#include <stein/inference/cuda/scratch.h>
#include <stein/inference/cuda/send_home.h>

#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace stein::inference::cuda {
namespace {

/// The page-locked memory of a GPU that nobody has. Numbers may be given up while they are under way: such memory is
/// not taken again before they are here.
class LandingPlaces {
 public:
  std::unique_ptr<PageLockedMemory> take() {
    const std::lock_guard lock(mutex_);
    for (auto& place : idle_) {
      if (!place->is_over()) continue;
      std::swap(place, idle_.back());
      std::unique_ptr<PageLockedMemory> found = std::move(idle_.back());
      idle_.pop_back();
      return found;
    }
    return std::make_unique<PageLockedMemory>();
  }
  void give_back(std::unique_ptr<PageLockedMemory> place) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(place));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<PageLockedMemory>> idle_;
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
    constexpr std::string_view what = "copy from the GPU";
    const std::size_t bytes = count * sizeof(double);
    check(cudaMemcpyAsync(place_->reserve(bytes), from, bytes, cudaMemcpyDeviceToHost, first_stream), what);
    place_->record(first_stream, what);
  }
  NumbersUnderWay(const NumbersUnderWay&) = delete;
  NumbersUnderWay& operator=(const NumbersUnderWay&) = delete;
  ~NumbersUnderWay() override { places_.give_back(std::move(place_)); }
  std::span<const double> wait() override {
    place_->wait("run a kernel");
    return {static_cast<const double*>(place_->data()), count_};
  }

 private:
  LandingPlaces& places_;
  std::unique_ptr<PageLockedMemory> place_;
  std::size_t count_;
};

}  // namespace

std::unique_ptr<LateNumbers> send_home(std::int32_t index, const double* from, std::size_t count) {
  const CurrentDevice device(index);
  return std::make_unique<NumbersUnderWay>(index, from, count);
}

}  // namespace stein::inference::cuda
