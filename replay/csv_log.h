// A log of one's own: comma-separated values under a header, a decision a line.
#pragma once

#include <stein/core/csv_rows.h>
#include <stein/replay/column_use.h>
#include <stein/replay/log_format.h>
#include <stein/replay/recent_ids.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stein::replay {

/// Decisions as rows of a table. Options say which column has the arm that was chosen, its reward, its propensity and
/// the time; all other columns are the context, but for those without a name. The context has its columns in the order
/// of their names, whatever the order in a file; a number takes one column, a category `buckets` one-hot columns, into
/// which its text is hashed. An empty text is a category like any other, an empty number makes the line a bad one.
///
/// Where `arm_names` says which arms there are, or somebody has counted them (`know_arms`), each of them could be
/// chosen every time; without a column of propensities, which takes `arm_names`, they were drawn uniformly. Where
/// nobody says it, the arms of an event are those that have come so far, its own among them. That an arm is there
/// because it was just chosen makes the first event of every arm count too much: under a uniform policy, the first
/// event of the k-th arm has weight 1 / (k p) with arms to choose from that no earlier event had.
///
/// A line break within quotes ends the line all the same, so that such a row is two bad lines. Empty lines are passed
/// over. A name with a comma in it cannot be in `arm_names`, which is a list of names with commas between them.
class CsvLog final : public LogFormat {
 public:
  /// Names of columns, and what is not in the file.
  struct Options {
    std::string arm = "arm", reward = "reward", propensity = "propensity", time = "time", id;
    std::vector<std::string> categories{};
    std::int64_t buckets = 16;
    std::vector<std::string> arm_names{};
    double reward_low = 0;
    double reward_high = 1;

    template <class V>
    void describe(V& v) {
      v("arm", arm, "column with the name of the arm that was chosen");
      v("reward", reward, "column with its reward");
      v("propensity", propensity,
        "column with the probability that it was chosen with; an empty name, or no such column: arms were drawn "
        "uniformly");
      v("time", time, "column with seconds since 1970, or date and time as ISO 8601 has them; may be missing");
      v("id", id, "column with what tells decisions apart: one that was there already makes a bad line; empty: none")
          .in_older_runs("");
      v("categories", categories, "columns of the context whose texts are categories; the others have numbers");
      v("buckets", buckets, "one-hot columns for each category, which is hashed into them", between(1, 65'536),
        "columns");
      v("arm_names", arm_names,
        "all arms, each of which can be chosen every time; none: those of the log, or where `arms` says how many there "
        "may be, those that have come so far; with propensities only");
      v("reward_low", reward_low, "smallest reward that there may be");
      v("reward_high", reward_high, "largest reward that there may be");
    }
  };

  /// Throws Error(usage) for options out of their ranges, a column that two options name, and an arm named twice.
  explicit CsvLog(const Options& options);

  /// Throws Error(data) unless `first_line` is a header with the columns that the options name, each once, and where
  /// neither propensities nor `arm_names` say how arms were drawn. A column `propensity` or `time` that is missing is
  /// an error where the name is not the option's default, and where another column has nearly the name `propensity`.
  void begin(std::string_view first_line) override;
  const envs::BanditSpec& spec() const override { return spec_; }
  /// Columns of the file, by name; a category once.
  std::vector<std::string> context_names() const override;
  void know_arms(const std::vector<std::string>& names) override;
  /// Of categories that share a column, and of numbers far from 1.
  std::vector<std::string> warnings() const override;
  /// Throws Error(data) for a later file whose header has other columns than that of the first, in whatever order.
  LineVerdict read(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  /// The same of a header of contexts, which needs no columns but those of the context.
  void begin_contexts(std::string_view first_line) override;
  /// Of a row the context alone is looked at. The header may come again anywhere.
  LineVerdict read_context(std::string_view line, ArmTable& arms, LoggedEvent& event) override;
  void begin_file() override { header_is_next_ = true; }
  /// Where all arms are known, there are no ids to be seen twice, and no categories, whose first one in a column is
  /// noted.
  bool lines_stand_alone() const override;
  void add_notes(const Snapshot& other) override;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  static bool recognises(std::string_view line);

 private:
  /// A column of the context.
  struct Feature {
    std::string name;
    std::size_t column;
    bool is_category;
    std::string reason;  ///< why a line is bad where the column has no number
    ColumnUse use;       ///< of a category
    float largest = 0;   ///< number so far, without its sign
  };
  /// Which field of a row is what.
  struct Columns {
    std::size_t arm = 0, reward = 0;
    std::optional<std::size_t> propensity, time, id;
    std::vector<Feature> context;  ///< by name
  };
  void name_arms();
  /// Columns of a log's header.
  Columns read_header(std::string_view line);
  /// Takes the names in a header. Throws Error(data) where it is none.
  void take_names(std::string_view line);
  /// Throws Error(data) naming the columns that are missing in the header, and those that it has.
  void check_header() const;
  /// What to say of a header that has one column and other separators in it.
  std::string other_separator() const;
  /// Columns that are none of those with an option of their own, by name. Throws Error(data) for a column that is there
  /// twice.
  std::vector<Feature> context_columns() const;
  std::int64_t width_of_context() const;
  /// Take what they are called by from the row that was read. Why the line is bad, or nothing.
  std::string_view take_outcome(LoggedEvent& event) const;
  std::string_view take_context(LoggedEvent& event);
  std::string_view take_arm(ArmTable& arms, LoggedEvent& event) const;
  /// Puts all arms that can be chosen into `event.present`.
  void take_present(ArmTable& arms, LoggedEvent& event) const;

  Options options_;
  std::unordered_map<std::string, std::size_t> places_;  ///< of arms in `arm_names`
  std::vector<std::string_view> arm_names_;              ///< views of the option
  envs::BanditSpec spec_;
  CsvRows rows_;
  Columns columns_;
  std::vector<std::string> first_columns_;  ///< of the log's first file, sorted
  bool header_is_next_ = true;
  std::string header_;  ///< of contexts alone
  RecentIds recent_;
};

}  // namespace stein::replay
