#include "fuzz/replay/feed_log.h"

#include <stein/core/error.h>
#include <stein/replay/log_format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/require.h"

namespace stein::test {
namespace {

using namespace replay;

constexpr std::int64_t most_arms = 64;

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Options that decide how a format reads.
std::vector<Settings> variants(std::string_view format) {
  if (format == "dsjson") return {{}, {{"arm_id", "Action.id"}, {"shared_features", "0"}}};
  if (format == "vw-text") return {{}, {{"actions", "4"}}};
  if (format == "decisions") return {{}, {{"logged_seed", "3"}}};
  if (format == "csv")
    return {{},
            {{"arm_names", "a,b,c"}, {"categories", "city"}, {"buckets", "4"}},
            {{"arm_names", "a"}, {"propensity", ""}, {"time", ""}, {"reward_low", "-1"}}};
  return {{}};
}

std::unique_ptr<LogFormat> make(std::string_view format, const Settings& settings) {
  const auto builder = log_formats().at(format).builder();
  OptionTable table;
  builder->describe(table);
  for (const auto& [key, value] : settings) table.set(key, value);
  return builder->make();
}

void check(const LineVerdict& verdict, const LoggedEvent& event, const LogFormat& format, bool decision) {
  require((verdict.kind == LineVerdict::Kind::bad) == !verdict.reason.empty(), "a reason is that of a bad line");
  if (verdict.kind != LineVerdict::Kind::event) return;
  envs::BanditSpec spec = format.spec();
  if (spec.arms == 0) spec.arms = most_arms;
  event.context().check(spec);
  const auto finite = [](float value) { return std::isfinite(value); };
  require(std::ranges::all_of(event.dense, finite), "features of the context are finite");
  require(std::ranges::all_of(event.arm_features, finite), "features of arms are finite");
  if (!decision) return;
  require(std::ranges::find(event.present, event.action) != event.present.end(), "the chosen arm is there");
  require(event.propensity > 0 && event.propensity <= 1, "a propensity is in (0, 1]");
  require(std::isfinite(event.reward), "a reward is finite");
  require(!spec.bounded || (event.reward >= spec.reward_low && event.reward <= spec.reward_high),
          "a reward is in its range");
  require(event.weight >= 1 && std::isfinite(event.weight), "a weight is at least 1");
}

void read_all(LogFormat& format, std::string_view text, bool decisions) {
  ArmTable arms(most_arms);
  LoggedEvent event;
  const std::string_view first_line = text.substr(0, text.find('\n'));
  decisions ? format.begin(first_line) : format.begin_contexts(first_line);
  format.begin_file();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    check(decisions ? format.read(line, arms, event) : format.read_context(line, arms, event), event, format,
          decisions);
  }
  check(format.finish(arms, event), event, format, true);
}

}  // namespace

void feed_log(std::string_view format, std::string_view text) {
  for (const Settings& settings : variants(format)) {
    for (const bool decisions : {true, false}) {
      try {
        read_all(*make(format, settings), text, decisions);
      } catch (const Error& error) {
        const bool of_contexts = !decisions && error.kind() == ErrorKind::usage;
        if (error.kind() != ErrorKind::data && !of_contexts) throw;
      }
      static_cast<void>(log_formats().at(format).recognises(text.substr(0, text.find('\n'))));
    }
  }
}

}  // namespace stein::test
