/* A trained bandit policy in C: load, decide, learn, save.
 *
 * A policy is loaded from the directory of a run of `stein bandit` or `stein replay`; neither data sets nor logs are
 * needed. Functions on one policy must not run at the same time; different policies are independent. Nothing here ends
 * the process or throws: what went wrong is said by `stein_error`.
 */
#ifndef STEIN_C_STEIN_H
#define STEIN_C_STEIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stein_policy stein_policy;

/** What is seen before a choice. Of `dense` and `active` a bandit has one; the other is null with size 0. */
typedef struct stein_context {
  const float* dense; /**< numbers that all arms share */
  int64_t dense_size;
  const int32_t* active; /**< columns of a one-hot context that are one, ascending */
  int64_t active_size;
  const char* const* arms; /**< names of the arms to choose from; null: all arms of the bandit, in its order */
  int64_t arms_size;
  const float* arm_features; /**< features of every arm to choose from, one arm after the other; or null */
  int64_t arm_features_size;
} stein_context;

/** The policy of a run, as `stein_save` or its newest checkpoint left it; null where that fails.
 * `options` is null or what `stein predict` takes, as in "seed=3 policy=linucb". Whoever loads a policy holds its run
 * until `stein_free`: nobody else can load it or learn with it. With "learn=false" it only decides, beside others. */
stein_policy* stein_load(const char* run, const char* options);

/** Chooses one of the arms and returns its place among them, or -1 where that fails. If `propensities` is not null, the
 * probability of every arm to choose from is written to it; it has room for `size` numbers. `id` (may be null) gets
 * the number by which the outcome is told. */
int64_t stein_decide(stein_policy* policy, const stein_context* context, double* propensities, int64_t size,
                     int64_t* id);

/** What came of decision `id`. 0, or -1 where that fails: no decision of that number waits for its outcome,
 * or the reward is none that the bandit has. */
int stein_learn(stein_policy* policy, int64_t id, double reward);

/** Keeps what was learned in the folder `service/POLICY-SEED` of the run. 0, or -1 where that fails. */
int stein_save(const stein_policy* policy);

/** Gives the policy's memory back; null is allowed. */
void stein_free(stein_policy* policy);

/** Why the last call of this thread failed; empty if it did not. Valid until this thread's next call. */
const char* stein_error(void);

#ifdef __cplusplus
}
#endif

#endif
