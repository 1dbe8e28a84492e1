// Denormal numbers as zero, for a while: weights and moments that decay towards 0 end as denormals, below 1.2e-38 in
// float32, and an Intel core then takes a hundred times as long for every product that one of them goes into.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace stein {

/// While one lives, the thread that made it reads denormal numbers as 0 and writes 0 instead of them; then the thread
/// is as it was. On processors other than x86-64 and 64-bit Arm it does nothing. Ends in the thread that it began in.
class FlushDenormals {
 public:
  FlushDenormals() : outer_(control()) { set_control(outer_ | flush); }
  ~FlushDenormals() { set_control(outer_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  using Control = std::uint32_t;
  static constexpr Control flush = 0x8040;  // of MXCSR: results (flush to zero) and operands (denormals are zeros)
  static Control control() {
    return _mm_getcsr();
  }
  static void set_control(Control control) {
    _mm_setcsr(control);
  }
#elif defined(__aarch64__)
  using Control = std::uint64_t;
  static constexpr Control flush = std::uint64_t{1} << 24;  // FZ of FPCR: both
  static Control control() {
    Control control;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control;
  }
  static void set_control(Control control) {
    asm volatile("msr fpcr, %0" : : "r"(control));
  }
#else
  using Control = std::uint32_t;
  static constexpr Control flush = 0;
  static Control control() {
    return 0;
  }
  static void set_control(Control) {}
#endif

  Control outer_;
};

}  // namespace stein
