#include <stein/runs/measured.h>
#include <stein/runs/paired_differences.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/seed_statistics.h>

#include <cmath>
#include <limits>
#include <optional>

namespace stein::runs {
namespace {

using Json = nlohmann::ordered_json;

/// A run as far as pairs need it; runs can be compared where `group` is the same text.
struct Contender {
  const RunRecord* record;
  std::string group;
  std::vector<std::vector<double>> values;  ///< [fields][seeds]
};

/// Nothing where the summary lacks a field: earlier versions wrote some without their seeds.
std::optional<Contender> contender_of(const RunRecord& record) {
  const Json& seeds = record.summary.at("seeds");
  Contender contender{&record, Json{group_of(record), seeds}.dump(), {}};
  for (const std::string& field : record.kind->paired) {
    const Json::json_pointer place("/" + field);
    const Json value = record.summary.contains(place) ? record.summary.at(place) : Json::object();
    const char* each = "per_seed";
    for (const char* const other : {"per_fold", "per_split"})
      if (value.contains(other)) each = other;
    if (!value.is_object() || !value.contains(each) || value[each].size() != seeds.size()) return std::nullopt;
    std::vector<double>& of_field = contender.values.emplace_back();
    for (const Json& one : value[each])
      of_field.push_back(one.is_number() ? one.get<double>() : std::numeric_limits<double>::quiet_NaN());
  }
  return contender;
}

void add_pair(const Contender& first, const Contender& second, std::vector<PairedDifference>& list) {
  for (std::size_t k = 0; k < first.values.size(); ++k) {
    PairedDifference difference{.field = first.record->kind->paired[k],
                                .first = first.record->label,
                                .second = second.record->label,
                                .per_seed = first.values[k],
                                .seeds = first.record->summary["seeds"]};
    for (std::size_t i = 0; i < difference.per_seed.size(); ++i) difference.per_seed[i] -= second.values[k][i];
    list.push_back(std::move(difference));
  }
}

}  // namespace

Json PairedDifference::to_json() const {
  const double centre = mean(per_seed), half = half_width(per_seed);
  return {{"field", field},
          {"first", first},
          {"second", second},
          {"difference", number(centre)},
          {"sd", number(deviation(per_seed))},
          {"interval", std::isfinite(half) ? Json{centre - half, centre + half} : Json(nullptr)},
          {"seeds", seeds}};
}

PairedDifferences paired_differences(const std::vector<std::reference_wrapper<const RunRecord>>& runs,
                                     std::size_t most) {
  std::vector<Contender> contenders;
  for (const RunRecord& record : runs)
    if (!record.kind->paired.empty())
      if (auto contender = contender_of(record)) contenders.push_back(std::move(*contender));
  PairedDifferences differences;
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < contenders.size(); ++i)
    for (std::size_t j = i + 1; j < contenders.size(); ++j) {
      if (contenders[i].group != contenders[j].group) continue;
      if (++pairs <= most)
        add_pair(contenders[i], contenders[j], differences.list);
      else
        ++differences.left_out;
    }
  return differences;
}

}  // namespace stein::runs
