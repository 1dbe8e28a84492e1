#include "bandit_experiment.h"

#include <stein/core/error.h>
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <charconv>
#include <set>

namespace stein::cli {
namespace {

constexpr std::uint64_t most_seeds = 10'000;

/// What `key` will be once all sources are read: it decides which options there are, so it is needed before them.
void look_ahead(const BanditExperiment::Sources& sources, std::string_view key, std::string& value) {
  try {
    const toml::table file = toml::parse(sources.toml, sources.toml_name);
    if (const auto found = file[key].value_exact<std::string>()) value = *found;
  } catch (const toml::parse_error& error) {
    fail(ErrorKind::usage, "{}, line {}: {}", sources.toml_name, error.source().begin.line, error.description());
  }
  for (const auto& [name, text] : sources.settings)
    if (name == key) value = text;
}

void check_names_differ(const OptionTable& table, std::string_view environment, std::string_view policy) {
  std::set<std::string_view> seen;
  for (const Option& option : table.options())
    STEIN_CHECK(seen.insert(option.name).second, "option '{}' is described twice by the parts of {} with {}",
                option.name, environment, policy);
}

}  // namespace

SeedRange SeedRange::parse(std::string_view text) {
  SeedRange range;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  const bool has_first = first.ec == std::errc{} && first.ptr != end && *first.ptr == ':';
  const auto last = std::from_chars(has_first ? first.ptr + 1 : end, end, range.end);
  STEIN_CHECK(has_first && last.ec == std::errc{} && last.ptr == end,
              "seeds are given as A:B, from A up to but without B, for instance 0:5; got '{}'", text);
  STEIN_CHECK(range.first < range.end, "seeds {} hold no seed: the second number must be larger", text);
  STEIN_CHECK(range.end - range.first <= most_seeds, "at most {} seeds can run side by side, got {}", most_seeds,
              range.end - range.first);
  return range;
}

std::pair<std::string, std::string> parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  STEIN_CHECK(equals != std::string_view::npos && equals > 0, "--set expects key=value, got '{}'", text);
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

BanditExperiment::BanditExperiment(const Sources& sources) {
  look_ahead(sources, "env", environment_);
  look_ahead(sources, "policy", policy_);
  environment_builder_ = envs::bandits().at(environment_).builder();
  policy_builder_ = policies::bandit_policies().at(policy_).builder();
  if (!learns()) agent_.forced_pulls = 0;
  describe_run(table_);
  agent_.describe(table_);
  environment_builder_->describe(table_);
  policy_builder_->describe(table_);
  check_names_differ(table_, environment_, policy_);
  set_from_toml(table_, sources.toml, sources.toml_name);
  for (const auto& [key, value] : sources.settings) table_.set(key, value);
  static_cast<void>(seeds());
}

void BanditExperiment::describe_run(OptionTable& table) {
  table("env", environment_, "the bandit; `stein list` names them");
  table("policy", policy_, "the policy; `stein list` names them");
  table("seeds", seeds_, "independent repetitions, A:B, without B");
  table("steps", steps_, "length of every repetition", between(1, 1e12), "interactions");
  table("checkpoint_every", checkpoint_every_, "what a killed run loses at most", between(1, 1e12), "interactions");
  table("log_decisions", log_decisions_, "write decisions.jsonl, one line an interaction");
}

std::map<std::string, std::string> BanditExperiment::environment_options() const {
  OptionTable table;
  environment_builder_->describe(table);
  std::map<std::string, std::string> values;
  for (const Option& option : table.options()) values[option.name] = option.text();
  return values;
}

std::vector<std::pair<std::string, OptionTable>> BanditExperiment::sections() {
  std::vector<std::pair<std::string, OptionTable>> sections{
      {"Run", {}}, {"Learning", {}}, {"Environment " + environment_, {}}, {"Policy " + policy_, {}}};
  describe_run(sections[0].second);
  agent_.describe(sections[1].second);
  environment_builder_->describe(sections[2].second);
  policy_builder_->describe(sections[3].second);
  return sections;
}

std::string BanditExperiment::help() const {
  BanditExperiment shown({.toml = "", .toml_name = "", .settings = {{"env", environment_}, {"policy", policy_}}});
  std::string text = "Options for --set and for the file of --config:\n\n";
  const auto sections = shown.sections();
  shown.environment_ = default_environment;  // the tables show what the program would take, not what was asked about
  shown.policy_ = default_policy;
  for (const auto& [heading, table] : sections)
    if (!table.options().empty()) text += fmt::format("{}\n{}\n", heading, help_text(table));
  return text;
}

std::unique_ptr<agents::BanditRun> BanditExperiment::make_run(const envs::DataSource& source) const {
  const auto make_agent = [&](std::uint64_t seed) {
    auto environment = environment_builder_->make(source);
    auto policy = policy_builder_->make(environment->spec(), seed);
    return std::make_unique<agents::BanditAgent>(agent_, seed, std::move(environment), std::move(policy));
  };
  return std::make_unique<agents::BanditRun>(seeds().first, seeds().end, make_agent);
}

}  // namespace stein::cli
