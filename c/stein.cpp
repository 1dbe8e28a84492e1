#include <stein/c/stein.h>
#include <stein/core/error.h>
#include <stein/replay/prediction.h>
#include <stein/runs/run_kind.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

struct stein_policy {
  stein::RunDirectory directory;
  std::unique_ptr<stein::runs::RunAction> action;
  std::unique_ptr<stein::replay::ServedPolicy> served{};
  stein::replay::LoggedEvent event{};

  const stein::replay::Prediction& prediction() const {
    return dynamic_cast<const stein::replay::Prediction&>(*action);
  }
};

namespace {

using stein::ErrorKind;
using stein::fail;

thread_local std::string last_error;

/// What `call` returns, or `failed` where it throws.
template <class Result, class Call>
Result guarded(Result failed, const Call& call) noexcept {
  try {
    last_error.clear();
    return call();
  } catch (const std::exception& error) {
    last_error = error.what();
  } catch (...) {
    last_error = "an unknown error";
  }
  return failed;
}

/// "seed=3 policy=linucb".
void set_options(stein::runs::RunAction& action, const char* options) {
  stein::OptionTable table = stein::OptionTable::of(action);
  std::istringstream words(options == nullptr ? "" : options);
  for (std::string word; words >> word;) {
    const auto [key, value] = stein::runs::parse_setting(word, "options");
    table.set(key, value);
  }
}

template <class T>
std::vector<T> numbers(const T* values, std::int64_t size, const char* what) {
  STEIN_CHECK(size >= 0 && (values != nullptr || size == 0), "the context has {} {} at a null pointer", size, what);
  return {values, values + size};
}

void fill_arms(const stein_context& context, stein::replay::ServedPolicy& served, stein::replay::LoggedEvent& event) {
  const auto names = numbers(context.arms, context.arms_size, "names of arms");
  const stein::envs::BanditSpec& spec = served.spec();
  // Before names become arms.
  stein::envs::check_sizes(spec, std::ssize(event.dense), std::ssize(event.active), std::ssize(event.arm_features),
                           names.empty() ? spec.arms : std::ssize(names));
  if (names.empty()) {
    STEIN_CHECK(served.arms().size() == spec.arms, "the arms to choose from are expected by name");
    event.present.resize(static_cast<std::size_t>(spec.arms));
    std::iota(event.present.begin(), event.present.end(), 0);
    return;
  }
  STEIN_CHECK(served.arms().number_all(std::vector<std::string_view>(names.begin(), names.end()), event.present),
              "an arm is there twice");
}

void check_learns(const stein_policy* policy) {
  STEIN_CHECK(policy != nullptr, "a policy is expected, got null");
  STEIN_CHECK(policy->prediction().learns(), "the policy was loaded with learn=false");
}

}  // namespace

stein_policy* stein_load(const char* run, const char* options) {
  return guarded<stein_policy*>(nullptr, [&] {
    STEIN_CHECK(run != nullptr, "the directory of a run is expected, got null");
    const auto directory = stein::RunDirectory::open(run);
    const stein::runs::RunKind& kind = stein::runs::kind_of(directory);
    const auto action = kind.actions.find("predict");
    if (action == kind.actions.end())
      fail(ErrorKind::data, "'{}' holds a run of `stein {}`, which has no policy that chooses arms", run,
           kind.subcommand);
    auto policy = std::make_unique<stein_policy>(
        stein_policy{.directory = stein::RunDirectory::open(run), .action = action->second()});
    stein::OptionTable::of(*policy->action).set("learn", "true");
    set_options(*policy->action, options);
    if (policy->prediction().learns()) policy->directory = stein::RunDirectory::open(run, stein::Access::write);
    policy->served = policy->prediction().serve(policy->directory, "");
    if (policy->prediction().learns()) {
      policy->served->begin_session();
      policy->prediction().save(policy->directory, *policy->served);  // later services must know of this one
    }
    return policy.release();
  });
}

int64_t stein_decide(stein_policy* policy, const stein_context* context, double* propensities, int64_t size,
                     int64_t* id) {
  return guarded<int64_t>(-1, [&] {
    STEIN_CHECK(policy != nullptr && context != nullptr, "a policy and a context are expected, got null");
    stein::replay::LoggedEvent& event = policy->event;
    event.dense = numbers(context->dense, context->dense_size, "numbers");
    event.active = numbers(context->active, context->active_size, "active columns");
    event.arm_features = numbers(context->arm_features, context->arm_features_size, "features of arms");
    fill_arms(*context, *policy->served, event);
    STEIN_CHECK(propensities == nullptr || size >= event.choices(), "there is room for {} propensities, {} are needed",
                size, event.choices());
    const auto answer = policy->served->decide(event, policy->prediction().learns());
    if (propensities != nullptr) std::ranges::copy(answer.decision.propensities, propensities);
    if (id != nullptr) *id = answer.id;
    return event.context().place_of(answer.decision.action, policy->served->spec());
  });
}

int stein_learn(stein_policy* policy, int64_t id, double reward) {
  return guarded(-1, [&] {
    check_learns(policy);
    policy->served->learn(id, reward);
    return 0;
  });
}

int stein_save(const stein_policy* policy) {
  return guarded(-1, [&] {
    check_learns(policy);
    policy->prediction().save(policy->directory, *policy->served);
    return 0;
  });
}

void stein_free(stein_policy* policy) {
  delete policy;
}

const char* stein_error(void) {
  return last_error.c_str();
}
