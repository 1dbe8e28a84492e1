// Fields of a line of comma-separated values.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct csv_parser;

namespace stein {

/// A line of RFC 4180, split by libcsv; what separates its fields may be another letter than the comma. Blanks around
/// fields without quotes are no part of them.
class CsvLine {
 public:
  /// @param most_fields  longer lines are refused, and what they hold is not kept
  explicit CsvLine(std::size_t most_fields);
  ~CsvLine();
  CsvLine(const CsvLine&) = delete;
  CsvLine& operator=(const CsvLine&) = delete;

  /// Fields are separated by this letter from here on.
  void separate_by(char letter);
  /// Splits `line`; false if a quote is not closed or stands in the middle of a field, if there is a line end in it,
  /// or if there are too many fields.
  bool split(std::string_view line);

  std::size_t size() const { return ends_.size(); }
  /// Field `i` < size(), valid until the next `split`.
  std::string_view operator[](std::size_t i) const;

 private:
  static void take_field(void* text, std::size_t length, void* self);
  static void take_line_end(int terminator, void* self);

  void restart();

  std::unique_ptr<csv_parser> parser_;
  char separator_ = ',';
  std::size_t most_fields_;
  std::string text_;               ///< of all fields, one behind the other
  std::vector<std::size_t> ends_;  ///< of the fields in `text_`
  bool too_many_ = false;
  int lines_ = 0;
};

}  // namespace stein
