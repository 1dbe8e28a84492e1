/* A policy that was trained by `stein bandit --env wheel --policy lints --out run`, at work in a program in C. */
#include <stdio.h>
#include <stein/c/stein.h>

static int give_up(void) {
  fprintf(stderr, "%s\n", stein_error());
  return 1;
}

int main(int count, char** arguments) {
  /* begin */
  stein_policy* policy = stein_load(count > 1 ? arguments[1] : "run", NULL);
  if (policy == NULL) return give_up();

  const float point[2] = {0.1f, -0.2f}; /* in the middle of the wheel, where arm 4 is the best */
  const stein_context context = {.dense = point, .dense_size = 2};
  double propensities[5], reward = 0;
  int pulls[5] = {0};
  for (int i = 0; i < 100; ++i) {
    int64_t id;
    const int64_t arm = stein_decide(policy, &context, propensities, 5, &id);
    if (arm < 0) return give_up();
    ++pulls[arm];
    reward += arm == 4 ? 1.2 : 1.0;
    if (stein_learn(policy, id, arm == 4 ? 1.2 : 1.0) != 0) return give_up();
  }
  if (stein_save(policy) != 0) return give_up();
  /* end */

  printf("arm 4 was chosen %d times of 100\n", pulls[4]);
  printf("reward %.1f\n", reward);
  stein_free(policy);
  return 0;
}
