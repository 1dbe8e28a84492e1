// How far a long task is, told to a person on standard error.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace stein {

/// Told by an algorithm how far it is. `advance` may be called from any thread and is cheap.
class Progress {
 public:
  virtual ~Progress() = default;

  /// A task begins: `total` units of `unit` ("interactions"); 0 if unknown. A resumed task has `done` of them behind
  /// it.
  virtual void begin(std::string_view task, std::string_view unit, std::uint64_t total, std::uint64_t done = 0) = 0;
  virtual void advance(std::uint64_t units = 1) = 0;
  /// The total of a task whose total was not known, as far as one can tell now; 0: one cannot.
  virtual void expect(std::uint64_t total) { static_cast<void>(total); }
  virtual void finish() = 0;
};

/// Says nothing.
class SilentProgress final : public Progress {
 public:
  void begin(std::string_view, std::string_view, std::uint64_t, std::uint64_t) override {}
  void advance(std::uint64_t) override {}
  void finish() override {}
};

enum class ProgressStyle {
  bar,    ///< one line that is drawn anew ten times a second: share, rate, time left
  lines,  ///< a plain line every five seconds and one at the end
};

/// Writes to `write`, reading time from `now`; both are parameters so that tests can see and steer them.
class TerminalProgress final : public Progress {
 public:
  /// Where lines go.
  using Write = std::function<void(std::string_view)>;
  /// The clock.
  using Now = std::function<std::chrono::nanoseconds()>;

  TerminalProgress(ProgressStyle style, Write write, Now now);
  ~TerminalProgress() override;

  void begin(std::string_view task, std::string_view unit, std::uint64_t total, std::uint64_t done) override;
  void advance(std::uint64_t units) override;
  void expect(std::uint64_t total) override;
  void finish() override;

 private:
  void draw(std::chrono::nanoseconds now);
  std::string describe(std::chrono::nanoseconds now) const;

  ProgressStyle style_;
  Write write_;
  Now now_;
  std::mutex mutex_;
  std::string task_, unit_;
  bool estimated_ = false;  ///< total_ is
  std::uint64_t total_ = 0, done_before_ = 0;
  std::chrono::nanoseconds began_{};
  bool running_ = false;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::chrono::nanoseconds::rep> next_draw_{0};
};

/// What suits standard error: a bar on a terminal, lines elsewhere, silence if `quiet`.
std::unique_ptr<Progress> make_progress(bool quiet);

}  // namespace stein
