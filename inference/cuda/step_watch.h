// What a GPU finds in the steps of one sampler while its host runs one step ahead.
#pragma once

#include <stein/inference/cuda/sampler_kernels.h>
#include <stein/inference/samplers/move_watch.h>
#include <stein/inference/storage/device.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

struct CUevent_st;  // cudaEvent_t points to it

namespace stein::inference::cuda {

/// Two sets of words, which steps have in turn: a step that finds them set by the step before moves nothing. Behind
/// the kernels of a step stands an event; the host waits for it one step later. Words are cleared after a failure only,
/// once nothing is asked of the GPU any more.
class StepWatch final : public MoveWatch {
 public:
  /// Throws Error(usage) where there is no such GPU, Error(io) where it has no memory.
  explicit StepWatch(Device device);
  StepWatch(const StepWatch&) = delete;
  StepWatch& operator=(const StepWatch&) = delete;
  ~StepWatch() override;

  void begin() override;
  std::optional<NotFiniteNumber> end() override;
  std::optional<NotFiniteNumber> settle() override;

  /// For the kernels of the step that has begun.
  const StepFlags& words() const { return steps_[now_].words; }
  /// Whether it is the first look at the gradients of this step that is asked about.
  bool looks_first() { return !std::exchange(looked_, true); }

 private:
  struct Step {
    StepFlags words;
    CUevent_st* over = nullptr;  ///< all of its kernels
  };
  /// Waits for a step, and says what it met.
  std::optional<NotFiniteNumber> wait(const Step& step) const;
  /// Waits for the GPU and clears all words.
  void clear();

  std::int32_t gpu_;
  std::array<Step, 2> steps_;
  void* device_words_ = nullptr;
  void* host_words_ = nullptr;
  std::size_t now_ = 0;  ///< the step that has begun, or will
  bool open_ = false;    ///< it has begun
  bool ahead_ = false;   ///< the other one has ended, and what it met is not known
  bool looked_ = false;
};

}  // namespace stein::inference::cuda
