// stein bandit: a policy learns a contextual bandit.
#include <stein/core/error.h>
#include <stein/core/read_file.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "bandit_experiment.h"
#include "bandit_session.h"
#include "command.h"

namespace stein::cli {
namespace {

struct Arguments {
  std::string config, environment, policy, seeds, out;
  std::vector<std::string> settings;
  bool overwrite = false, log_decisions = false;
  RunOptions run;
  CommonOptions common;

  BanditExperiment::Sources sources() const {
    BanditExperiment::Sources sources;
    std::error_code ignored;
    if (std::filesystem::is_directory(config, ignored))
      fail(ErrorKind::data, "'{}' is a folder, --config expects a TOML file", config);
    if (!config.empty()) sources.toml = read_file(config);
    sources.toml_name = config;
    for (const std::string& setting : settings) sources.settings.push_back(parse_setting(setting));
    if (!environment.empty()) sources.settings.emplace_back("env", environment);
    if (!policy.empty()) sources.settings.emplace_back("policy", policy);
    if (!seeds.empty()) sources.settings.emplace_back("seeds", seeds);
    if (log_decisions) sources.settings.emplace_back("log_decisions", "true");
    return sources;
  }
};

}  // namespace

Action bandit_command(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("--env", arguments->environment, "The bandit (default: mushroom)");
  command.add_option("--policy", arguments->policy, "The policy (default: s2vgd)");
  command.add_option("--config", arguments->config, "TOML file with options; what follows on the line wins");
  command.add_option("--set", arguments->settings, "key=value, any option below; may be repeated");
  command.add_option("--seeds", arguments->seeds, "Independent repetitions A:B, without B (default: 0:1)");
  command.add_option("--out", arguments->out, "Run directory (default: runs/ENV-POLICY-NUMBER, the next free number)");
  command.add_flag("--overwrite", arguments->overwrite, "Replace the run in --out");
  command.add_flag("--log-decisions", arguments->log_decisions, "Write decisions.jsonl: every choice with its chances");
  arguments->run.add_all(command);
  arguments->common.add_all(command);
  command.footer([arguments] { return BanditExperiment(arguments->sources()).help(); });
  return [arguments] {
    arguments->common.apply();
    const BanditExperiment experiment(arguments->sources());
    return start_bandit_run(experiment, arguments->out, arguments->overwrite ? Existing::overwrite : Existing::refuse,
                            arguments->run, arguments->common);
  };
}

}  // namespace stein::cli
