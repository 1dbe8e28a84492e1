// Draws standard normals with the library as an outsider finds it.
#include <stein/core/rng.h>

#include <cstdio>

int main() {
  stein::Draws draws({.seed = 1}, 0);
  double sum = 0, sum_of_squares = 0;
  const int count = 100'000;
  for (int i = 0; i < count; ++i) {
    const double normal = draws.normal();
    sum += normal;
    sum_of_squares += normal * normal;
  }
  std::printf("mean %.4f, variance %.4f\n", sum / count, sum_of_squares / count);
}
