// Simulated contextual bandits: a context, a choice of arms, a reward, and the expected reward of every arm, so that
// regret is exact.
#pragma once

#include <stein/core/options.h>
#include <stein/core/options_builder.h>
#include <stein/core/registry.h>
#include <stein/envs/bandit_spec.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stein::envs {

/// A contextual bandit of which the truth is known. Everything random is keyed by (seed, step), so steps can be visited
/// in any order and nothing but the step number is state. Objects are not shared between threads; make one a seed.
class BanditEnvironment {
 public:
  virtual ~BanditEnvironment() = default;

  virtual const BanditSpec& spec() const = 0;
  /// Moves to interaction `step` of the stream `seed` and returns its context, valid until the next call.
  virtual Context observe(std::uint64_t seed, std::int64_t step) = 0;
  /// Row of the data set that the present context shows, or −1 where there is no data set.
  virtual std::int64_t row() const { return -1; }
  /// Expected reward of every arm in the present context, [arms].
  virtual std::span<const double> expected_rewards() const = 0;
  /// The reward of pulling `arm` in the present context; the same (seed, step, arm) gives the same reward.
  /// Throws Error(usage) unless 0 ≤ arm < arms.
  virtual double reward(std::int64_t arm) = 0;
  /// Contexts that a report shows posteriors for, with a name each ("edible", "poisonous"); may be none.
  struct Probe {
    std::string name;
    std::vector<float> dense;
    std::vector<std::int32_t> active;
    std::vector<double> expected_rewards{};  ///< [arms], or empty where they are not told

    Context context() const { return {.dense = dense, .active = active}; }
  };
  virtual std::vector<Probe> probes() const { return {}; }
};

/// Where data sets are looked for: `--data DIR`, or empty for $STEIN_DATA and then the user's cache.
struct DataSource {
  std::string directory;
};

/// A registered bandit: how to describe it, which options it has, how to make it.
struct BanditEntry {
  std::string description;  ///< one line for `stein list`
  /// An environment's options, kept with the factory that reads them.
  struct Builder {
    virtual ~Builder() = default;
    virtual void describe(OptionTable& table) = 0;
    /// Once the options are set: what they name is then found from any folder.
    virtual void make_paths_absolute() {}
    /// Throws Error(data) where a data set is missing or damaged.
    virtual std::unique_ptr<BanditEnvironment> make(const DataSource& source) const = 0;
    /// A bandit of this entry once more, for another seed: the same game, and one table in memory for both.
    virtual std::unique_ptr<BanditEnvironment> copy(const BanditEnvironment& made) const = 0;
  };
  std::function<std::unique_ptr<Builder>()> builder;
};

/// All bandits that are linked in.
Registry<BanditEntry>& bandits();

/// Registers `Environment`, which has `Options` and a constructor (const Options&, const DataSource&). It is copied for
/// every further seed of a run: what is large and never changes belongs behind a pointer to const that copies share.
template <class Environment>
bool register_bandit(const std::string& name, std::string description) {
  using Base = OptionsBuilder<BanditEntry::Builder, typename Environment::Options>;
  struct EnvironmentBuilder final : Base {
    EnvironmentBuilder() : Base({}) {}
    void make_paths_absolute() override {
      if constexpr (requires(typename Environment::Options & options) { options.make_paths_absolute(); })
        this->template part<0>().make_paths_absolute();
    }
    std::unique_ptr<BanditEnvironment> make(const DataSource& source) const override {
      return std::make_unique<Environment>(this->template part<0>(), source);
    }
    std::unique_ptr<BanditEnvironment> copy(const BanditEnvironment& made) const override {
      return std::make_unique<Environment>(dynamic_cast<const Environment&>(made));
    }
  };
  return bandits().add(
      name, {std::move(description), [] { return std::unique_ptr<BanditEntry::Builder>(new EnvironmentBuilder); }});
}

}  // namespace stein::envs
