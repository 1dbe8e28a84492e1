#include <stein/core/data/manifest.h>
#include <stein/core/rng.h>
#include <stein/envs/mushroom.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace stein::envs {
namespace {

const bool registered =
    register_bandit<Mushroom>("mushroom", "eat or pass: UCI mushrooms, one-hot in 117 columns") &&
    register_bandit<SyntheticMushroom>("mushroom-synthetic", "eat or pass: made-up mushrooms of the same shape");

constexpr double probability_of_loss = 0.5;

double loss_of(Mushroom::Reward reward) {
  return reward == Mushroom::Reward::paper ? -10 : -35;
}

MushroomTable read_table(const DataSource& source) {
  const auto found = find_data_set("mushroom", source.directory);
  if (!found)
    fail(ErrorKind::data,
         "the mushroom data are not on this machine: `stein data fetch mushroom` brings them, --data or $STEIN_DATA "
         "names a folder that has them, and 'mushroom-synthetic' needs none");
  return read_mushrooms(*found / data_set("mushroom").files.front().name);
}

std::string describe_file() {
  const DataFile& file = data_set("mushroom").files.front();
  return fmt::format("{}, sha256 {}", file.name, file.sha256);
}

/// Standard deviation of the reward of a uniform arm on a uniform row; passing always gives 0.
double reward_deviation(double share_poisonous, double loss) {
  const double losing = share_poisonous * probability_of_loss;
  const double mean = (losing * loss + (1 - losing) * Mushroom::gain) / 2;
  const double square = (losing * loss * loss + (1 - losing) * Mushroom::gain * Mushroom::gain) / 2;
  return std::sqrt(square - mean * mean);
}

}  // namespace

Mushroom::Mushroom(const Options& options, const DataSource& source)
    : Mushroom(options.reward, read_table(source), "mushroom", "real", describe_file()) {}

Mushroom::Mushroom(Reward reward, MushroomTable table, std::string name, std::string data, const std::string& origin)
    : loss_(loss_of(reward)), table_(std::make_shared<const MushroomTable>(std::move(table))) {
  const auto poisonous_rows = std::count(table_->poisonous.begin(), table_->poisonous.end(), 1);
  const double share = static_cast<double>(poisonous_rows) / table_->rows;
  spec_ = {.name = std::move(name),
           .arms = arms,
           .context_size = MushroomTable::columns,
           .active_columns = MushroomTable::active,
           .reward_low = share > 0 ? expected_from_eating(true) : 0,
           .reward_high = share < 1 ? gain : 0,
           .reward_deviation = reward_deviation(share, loss_),
           .data = std::move(data),
           .source = fmt::format("Blundell et al. 2015; +{} or {}; {}", gain, loss_, origin),
           .arm_names = {"pass", "eat"}};
  Mushroom::observe(0, 0);
}

Context Mushroom::observe(std::uint64_t seed, std::int64_t step) {
  seed_ = seed;
  step_ = step;
  Draws draws({seed, static_cast<std::uint64_t>(step), Stream::context}, 0);
  row_ = draws.integer(static_cast<std::uint32_t>(table_->rows));
  expected_[eat] = expected_from_eating(poisonous(row_));
  return {.dense = {}, .active = columns_of(row_)};
}

double Mushroom::reward(std::int64_t arm) {
  check_arm(spec_, arm);
  if (arm == pass) return 0;
  if (!poisonous(row_)) return gain;
  Draws draws({seed_, static_cast<std::uint64_t>(step_), Stream::reward}, static_cast<std::uint32_t>(arm));
  return draws.uniform() < probability_of_loss ? loss_ : gain;
}

double Mushroom::expected_from_eating(bool is_poisonous) const {
  return is_poisonous ? probability_of_loss * loss_ + (1 - probability_of_loss) * gain : gain;
}

std::vector<BanditEnvironment::Probe> Mushroom::probes() const {
  std::vector<Probe> probes;
  for (const auto& [name, kind] : {std::pair{"edible", 0}, std::pair{"poisonous", 1}}) {
    const auto place = std::find(table_->poisonous.begin(), table_->poisonous.end(), kind);
    if (place == table_->poisonous.end()) continue;
    const auto columns = columns_of(place - table_->poisonous.begin());
    probes.push_back({.name = name,
                      .dense = {},
                      .active = {columns.begin(), columns.end()},
                      .expected_rewards = {0, expected_from_eating(kind == 1)}});
  }
  return probes;
}

std::span<const std::int32_t> Mushroom::columns_of(std::int64_t row) const {
  constexpr auto active = static_cast<std::size_t>(MushroomTable::active);
  return std::span(table_->active_columns).subspan(static_cast<std::size_t>(row) * active, active);
}

SyntheticMushroom::SyntheticMushroom(const Options& options, const DataSource&)
    : Mushroom(options.reward,
               make_synthetic_mushrooms(static_cast<std::uint64_t>(options.instance), static_cast<int>(options.rows)),
               "mushroom-synthetic", "synthetic",
               fmt::format("made-up table of {} rows, instance {}", options.rows, options.instance)) {}

}  // namespace stein::envs
