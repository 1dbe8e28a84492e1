// How to choose an arm, and with which probability it was chosen.
#pragma once

#include <stein/core/options.h>
#include <stein/core/options_builder.h>
#include <stein/core/registry.h>
#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>
#include <stein/inference/storage/device.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stein::policies {

/// Whether a decision comes with the exact probability of every arm: some policies have to compute it, at a cost.
enum class Propensities { none, exact };

/// A chosen arm. `propensities` [choices] is the exact probability of every arm that can be chosen, in the order of the
/// context, given what the policy knew; empty unless it was asked for. It stays valid until the next decision.
struct Decision {
  std::int64_t action = 0;
  std::span<const double> propensities{};
  bool deterministic = false;  ///< the policy itself drew nothing; its propensities are one-hot
};

/// What came of a choice.
struct Outcome {
  std::int64_t action = 0;
  double reward = 0;
  double propensity = 1;  ///< with which the arm was chosen, in (0, 1]
  double weight = 1;      ///< how many interactions it counts for, ≥ 0
};

/// A minibatch of past interactions, drawn with replacement from a learner's window.
struct InteractionBatch {
  std::span<const float> dense{};           ///< [n · context_size], or empty
  std::span<const std::int32_t> active{};   ///< [n · active_columns], or empty
  std::span<const float> arm_features{};    ///< [n · arm_features] of the arms that were chosen, or empty
  std::span<const std::int32_t> actions{};  ///< [n]
  std::span<const float> rewards{};         ///< [n]
  std::span<const float> weights{};         ///< [n], or empty: all 1
  std::span<const std::int64_t> numbers{};  ///< [n] how many outcomes the learner had seen before each: its own name
  std::int64_t rows = 0;                    ///< n
  std::int64_t window = 0;                  ///< N: interactions in the window that the posterior is conditioned on
};

/// Interaction `i` of a batch as the context that was seen, in which the arm that was chosen is the only one present.
envs::Context context_of(const InteractionBatch& batch, std::int64_t i, const envs::BanditSpec& spec);

/// Draws of a belief with a density that BanditPolicy::posterior_rewards gives.
inline constexpr std::size_t reported_samples = 100;

/// Chooses arms and learns from rewards. Everything random is keyed by the seed given at construction and the step.
class BanditPolicy {
 public:
  virtual ~BanditPolicy() = default;

  /// Whether rewards change later decisions; a policy that never learns hides this by a `false` of its own.
  static constexpr bool learns = true;

  /// Chooses one of the context's arms. @param step  keys what is drawn: the number of the decision
  virtual Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) = 0;
  /// Whether it looks at contexts before it decides them: see `foresee`.
  virtual bool foresees() const { return false; }
  /// A context that is decided soon, as are those shown since the last decision, before anything more is learned. A
  /// policy whose networks lie on a device asks them about all at once, at the first of their decisions; these are
  /// those that it makes without. Where it learns before the last of them it forgets what it has seen. Throws
  /// Error(usage) for a context of another shape than the bandit's.
  virtual void foresee(const envs::Context& context) { static_cast<void>(context); }
  /// Takes note of one interaction: all that a policy with a closed-form posterior needs. Throws Error(usage) for an
  /// arm that could not be chosen.
  virtual void observe(const envs::Context& context, const Outcome& outcome) {
    static_cast<void>(context), static_cast<void>(outcome);
  }
  /// Whether minibatches should be drawn for `learn`.
  virtual bool learns_from_minibatches() const { return false; }
  /// One update from a minibatch of the window. Throws Error(numeric) naming the coordinate that left the finite
  /// numbers.
  virtual void learn(const InteractionBatch& batch) { static_cast<void>(batch); }
  /// Every how many outcomes `revisit` wants to be called; 0: never.
  virtual std::int64_t revisits_every() const { return 0; }
  /// Looks at the whole window, in which each interaction stands once.
  virtual void revisit(const InteractionBatch& window) { static_cast<void>(window); }

  /// T of the posterior that it decides by, 1 for that of Bayes, as a run begins; none where it decides by other means.
  virtual std::optional<double> temperature() const { return {}; }
  /// N of that posterior is at most this; 0: every interaction that it learns from counts.
  virtual std::int64_t largest_data_size() const { return 0; }
  /// What there is to say of the posterior now: pairs such as {"collapse", 0.8}, recorded over time.
  virtual std::vector<std::pair<std::string, double>> diagnostics() const { return {}; }
  /// What a person should know of how it learned: a step size that had to be halved.
  virtual std::optional<std::string> warning() const { return {}; }
  /// Samples of the posterior expected reward of every arm that can be chosen in a context, [samples][choices]; empty
  /// where the policy has none.
  virtual std::vector<std::vector<double>> posterior_rewards(const envs::Context& context) {
    static_cast<void>(context);
    return {};
  }

  /// Everything that later decisions depend on.
  virtual void save(Snapshot& snapshot) const { static_cast<void>(snapshot); }
  virtual void restore(const Snapshot& snapshot) { static_cast<void>(snapshot); }
};

/// A registered policy: its line in `stein list`, its options, its factory.
struct PolicyEntry {
  std::string description;
  bool learns = true;       ///< see BanditPolicy; without it there is no reason to force pulls
  bool on_devices = false;  ///< its networks can lie on a device, learn there and predict there
  /// Options that are set one by one, and the policy that they describe.
  struct Builder {
    virtual ~Builder() = default;
    virtual void describe(OptionTable& table) = 0;
    /// @param device  where its networks are
    /// @throws Error(usage) naming the policy where it can have none there
    virtual std::unique_ptr<BanditPolicy> make(const envs::BanditSpec& spec, std::uint64_t seed,
                                               inference::Device device = {}) const = 0;
  };
  std::function<std::unique_ptr<Builder>()> builder;
};

/// All bandit policies that are linked in.
Registry<PolicyEntry>& bandit_policies();

/// Throws Error(usage) naming the policy and those that have networks on a device, unless that is the host.
void check_on_host(std::string_view policy, inference::Device device);

/// A policy that takes the device where its networks are.
template <class Policy>
concept PolicyOfDevices = std::constructible_from<Policy, const typename Policy::Options&, const envs::BanditSpec&,
                                                  std::uint64_t, inference::Device>;

/// Registers `Policy`, which has a constructor (const Options&, const BanditSpec&, seed), under a name with its default
/// options: several names may share a policy that differs in defaults only. One that takes a device has it as another
/// argument.
template <class Policy>
bool register_bandit_policy(const std::string& name, std::string description,
                            const typename Policy::Options& defaults = {}) {
  using Base = OptionsBuilder<PolicyEntry::Builder, typename Policy::Options>;
  struct PolicyBuilder final : Base {
    PolicyBuilder(const typename Policy::Options& options, std::string of) : Base(options), name(std::move(of)) {}
    std::unique_ptr<BanditPolicy> make(const envs::BanditSpec& spec, std::uint64_t seed,
                                       inference::Device device) const override {
      const typename Policy::Options& options = this->template part<0>();
      if constexpr (PolicyOfDevices<Policy>) {
        return std::make_unique<Policy>(options, spec, seed, device);
      } else {
        check_on_host(name, device);
        return std::make_unique<Policy>(options, spec, seed);
      }
    }
    std::string name;
  };
  PolicyEntry entry;
  entry.description = std::move(description);
  entry.learns = Policy::learns;
  entry.on_devices = PolicyOfDevices<Policy>;
  entry.builder = [defaults, name] { return std::unique_ptr<PolicyEntry::Builder>(new PolicyBuilder(defaults, name)); };
  return bandit_policies().add(name, std::move(entry));
}

}  // namespace stein::policies
