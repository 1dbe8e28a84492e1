// Where algorithms report their numbers. An algorithm sees `Recorder` only; who runs it decides what becomes of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace stein {

/// Takes named numbers over time. Implementations may be called from any thread.
class Recorder {
 public:
  virtual ~Recorder() = default;

  /// Records `value` of quantity `tag` ("regret") in repetition `seed` at `step`.
  virtual void scalar(std::string_view tag, std::uint64_t seed, std::uint64_t step, double value) = 0;

  /// Makes everything recorded so far visible to readers. @throws Error(io)
  virtual void flush() = 0;
};

/// Passes everything to each of its members; with none it drops everything.
class RecorderGroup final : public Recorder {
 public:
  void add(std::unique_ptr<Recorder> recorder) { members_.push_back(std::move(recorder)); }

  void scalar(std::string_view tag, std::uint64_t seed, std::uint64_t step, double value) override {
    for (const auto& member : members_) member->scalar(tag, seed, step, value);
  }
  void flush() override {
    for (const auto& member : members_) member->flush();
  }

 private:
  std::vector<std::unique_ptr<Recorder>> members_;
};

}  // namespace stein
