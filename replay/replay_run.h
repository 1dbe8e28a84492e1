// Repetitions of a replay: their result.
#pragma once

#include <stein/replay/replay_repetition.h>
#include <stein/runs/run.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stein::replay {

/// The same log once for every seed.
class ReplayRun final : public runs::RunOf<ReplayRepetition> {
 public:
  /// What a run says of itself.
  struct Facts {
    std::vector<std::string> files{};
    std::string format{};
    std::map<std::string, std::string> format_options{};
    std::int64_t window = 0;     ///< interactions that minibatches are drawn from
    double smallest_sample = 0;  ///< effective sample size below which an estimate is refused
    double level = 0.95;         ///< of intervals
  };
  /// Makes the repetition of a seed.
  using MakeReplay = std::function<std::unique_ptr<ReplayRepetition>(std::uint64_t seed)>;

  ReplayRun(runs::SeedRange seeds, const MakeReplay& make_repetition, Facts facts);

  /// The file's name, or "monday.gz and 6 more".
  std::string log_name() const;
  std::string source() const override;
  nlohmann::ordered_json protocol() const override;
  /// Throws Error(data) if a file of the log is not the one that the run began with.
  void check_manifest(const nlohmann::ordered_json& manifest) const override;
  /// Of the files of the log, which are read for it.
  std::map<std::string, std::string> data_checksums() const override;
  nlohmann::ordered_json cost() const override;
  void add_cost(const nlohmann::ordered_json& earlier) override;
  /// {env, log, policies, differences}: numbers are means over seeds. Ends of intervals too: every seed's interval has
  /// its part of what may be missed, or is one for large samples, and what holds for each holds for their mean,
  /// however the seeds hang together.
  nlohmann::ordered_json summarize(const Watch& watch) override;
  /// What makes one doubt the numbers: bad lines, weights whose mean is not 1.
  std::vector<std::string> warnings() const override;
  /// log.json: {arms: [{arm, first, last, pulls, reward}], propensities: {ends, counts}}.
  void write_results(const RunDirectory& directory) override;

 private:
  nlohmann::ordered_json log_summary() const;
  nlohmann::ordered_json policy_summary(std::size_t policy) const;
  nlohmann::ordered_json estimates(std::size_t policy) const;
  nlohmann::ordered_json differences() const;
  nlohmann::ordered_json refusal(const ValueEstimate& estimate) const;
  /// What file `k` of the log is called in the manifest.
  std::string label(std::size_t k) const;
  std::vector<std::string> warnings_of_log() const;
  /// Nothing where the mean weight is 1 as far as the log can tell.
  std::string warning_of_weights(const std::string& policy, double mean, double error, double effective) const;
  /// Nothing where the policy chose by itself most of the time.
  std::string warning_of_forced_pulls(const PolicyComparison::Contender& contender) const;
  double seconds(std::size_t policy) const;

  Facts facts_;
  std::map<std::string, double> earlier_seconds_;  ///< of the policies, in earlier processes
};

}  // namespace stein::replay
