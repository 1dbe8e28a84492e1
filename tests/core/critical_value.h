// When a test that draws refuses a law.
#pragma once

namespace stein::test {

/// |z| beyond which a law is refused: false alarms of 1e-9 a comparison, both sides together.
inline constexpr double critical_value = 6.1;

}  // namespace stein::test
