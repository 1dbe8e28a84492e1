// Samplers by name: `stein list` prints them, and policies make theirs from here.
#pragma once

#include <stein/core/options.h>
#include <stein/core/registry.h>
#include <stein/inference/sampler.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace stein::inference {

/// A sampler that is still to be made: which one, and its options. A value; copies have options of their own.
class SamplerChoice {
 public:
  /// `S`, a sampler of float particles with a nested Options and a constructor (options, ensemble).
  template <class S>
  static SamplerChoice of(typename S::Options options = {}) {
    return SamplerChoice(std::make_unique<ChoiceOf<S>>(std::move(options)));
  }
  SamplerChoice(const SamplerChoice& other) : choice_(other.choice_->copy()) {}
  SamplerChoice(SamplerChoice&&) noexcept = default;
  SamplerChoice& operator=(SamplerChoice other) noexcept {
    choice_ = std::move(other.choice_);
    return *this;
  }
  ~SamplerChoice() = default;

  void describe(OptionTable& table) { choice_->describe(table); }
  /// T as it begins, of a sampler that has the option.
  std::optional<double> temperature() const { return choice_->temperature(); }
  /// The sampler of an ensemble. Throws Error(usage) naming an option that is out of range.
  std::unique_ptr<Sampler<float>> make(const Ensemble& ensemble) const { return choice_->make(ensemble); }

 private:
  struct Choice {
    virtual ~Choice() = default;
    virtual std::unique_ptr<Choice> copy() const = 0;
    virtual void describe(OptionTable& table) = 0;
    virtual std::optional<double> temperature() const = 0;
    virtual std::unique_ptr<Sampler<float>> make(const Ensemble& ensemble) const = 0;
  };
  template <class S>
  struct ChoiceOf final : Choice {
    explicit ChoiceOf(typename S::Options given) : options(std::move(given)) {}
    typename S::Options options;
    std::unique_ptr<Choice> copy() const override { return std::make_unique<ChoiceOf>(options); }
    void describe(OptionTable& table) override { options.describe(table); }
    std::optional<double> temperature() const override {
      if constexpr (requires { options.temperature.temperature; }) return options.temperature.temperature;
      return {};
    }
    std::unique_ptr<Sampler<float>> make(const Ensemble& ensemble) const override {
      return std::make_unique<S>(options, ensemble);
    }
  };
  explicit SamplerChoice(std::unique_ptr<Choice> choice) : choice_(std::move(choice)) {}

  std::unique_ptr<Choice> choice_;
};

/// A registered sampler: its line in `stein list`, and itself with its default options.
struct SamplerEntry {
  std::string description;
  SamplerChoice defaults;
};

/// All samplers that are linked in.
Registry<SamplerEntry>& samplers();

/// Registers `S` under a name; a namespace-scope constant can do it.
template <class S>
bool register_sampler(const std::string& name, const std::string& description) {
  return samplers().add(name, {description, SamplerChoice::of<S>()});
}

}  // namespace stein::inference
