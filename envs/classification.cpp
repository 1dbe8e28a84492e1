#include <stein/core/error.h>
#include <stein/envs/classification.h>

#include <utility>

namespace stein::envs {
namespace {

const Column& target_of(const Table& table, std::string_view name) {
  const Column& target = table.columns[table.find(name, "a bandit's target")];
  if (target.categories.size() < 2)
    fail(ErrorKind::data, "the target '{}' of a bandit needs two classes or more, found {}", name,
         target.numeric() ? "numbers" : fmt::format("{}", target.categories.size()));
  for (std::int64_t row = 0; row < target.rows(); ++row)
    if (target.missing(row)) fail(ErrorKind::data, "the target '{}' has no class in row {}", name, row + 1);
  return target;
}

ContextTable contexts_of(const Table& table, std::string_view target) {
  std::vector<std::size_t> inputs;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if (table.columns[c].name != target) inputs.push_back(c);
  return {table, inputs, Scaling::standardized};
}

/// Rows of a kind are those of a class.
TableBandit::Rewards rewards_of(const Column& target) {
  const std::size_t classes = target.categories.size();
  TableBandit::Rewards rewards{.expected = std::vector<double>(classes * classes), .kinds = target.levels};
  for (std::size_t k = 0; k < classes; ++k) rewards.expected[k * classes + k] = 1;
  return rewards;
}

BanditSpec spec_of(const Table& table, std::string_view target, Classification::Origin origin) {
  const Column& classes = target_of(table, target);
  for (const auto& [file, sha256] : table.checksums) origin.source += fmt::format("; {}, sha256 {}", file, sha256);
  BanditSpec spec;
  spec.name = std::move(origin.name);
  spec.arms = std::ssize(classes.categories);
  spec.data = std::move(origin.data);
  spec.source = std::move(origin.source);
  spec.notice = std::move(origin.notice);
  spec.files = table.checksums;
  spec.arm_names = classes.categories;
  return spec;
}

}  // namespace

Classification::Classification(const Table& table, std::string_view target, Origin origin)
    : TableBandit(spec_of(table, target, std::move(origin)), contexts_of(table, target),
                  rewards_of(target_of(table, target))) {}

}  // namespace stein::envs
