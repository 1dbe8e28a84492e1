// Open Bandit Dataset: impressions on a fashion shop's page, logged by a random policy and by Thompson sampling.
#pragma once

#include <stein/core/csv_rows.h>
#include <stein/replay/item_features.h>
#include <stein/replay/log_format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stein::replay {

/// Comma-separated values with a header (Saito, Aihara, Matsutani & Narita 2020, "Open Bandit Dataset and Pipeline:
/// towards realistic and reproducible off-policy evaluation"). An event is one item in one of the three positions of a
/// page, with the probability that the logging policy gave the item in that position.
///
/// Arms are items, all of which could be chosen each time; the header has a column `user-item_affinity_<item>` for
/// each. The context is the position, one-hot, and each of the columns `user_feature_<k>`, which are categories, in
/// one-hot buckets. An arm brings the user's affinity to the item and, where `item_context` names their file, the
/// item's own features.
class OpenBandit final : public LogFormat {
 public:
  static constexpr std::int64_t positions = 3;

  /// How categories become numbers, and where features of the items are.
  struct Options {
    std::int64_t buckets = 16;
    std::string item_context;

    template <class V>
    void describe(V& v) {
      v("buckets", buckets, "one-hot columns for each feature that is a category, which is hashed into them",
        between(1, 65'536), "columns");
      v("item_context", item_context, "file of the items' own features (item_context.csv); empty: affinities alone");
    }
  };

  /// Throws Error(data), Error(io) if the file of the items cannot be read.
  explicit OpenBandit(const Options& options);

  /// Throws Error(data) unless `first_line` is a header of the data set, with the items of `item_context`.
  void begin(std::string_view first_line) override;
  const envs::BanditSpec& spec() const override { return spec_; }
  /// Throws Error(data) for a later file whose header has other columns than that of the first.
  LineVerdict read(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  bool lines_stand_alone() const override { return true; }
  void begin_file() override { header_is_next_ = true; }

  static bool recognises(std::string_view line);

 private:
  /// Which field of a line is what.
  struct Columns {
    std::size_t time = 0, item = 0, position = 0, click = 0, propensity = 0, count = 0;
    std::vector<std::size_t> user_features, affinities;
    std::vector<std::string> items;  ///< names, in the order of `affinities`

    bool operator==(const Columns&) const = default;
  };
  Columns read_header(std::string_view line);
  void check_items() const;
  /// Take numbers from the fields of the row that was read. Why the line is bad, or nothing.
  std::string_view take_outcome(LoggedEvent& event) const;
  std::string_view take_context(LoggedEvent& event) const;

  Options options_;
  ItemFeatures item_features_;
  Columns columns_;
  std::unordered_map<std::string, std::size_t> places_;  ///< of items in `columns_.items`
  std::vector<float> arm_features_;                      ///< of all items, with affinities of 0
  envs::BanditSpec spec_;
  CsvRows rows_;
  bool header_is_next_ = true;
  std::vector<std::string_view> names_;  ///< views of `columns_.items`
};

}  // namespace stein::replay
