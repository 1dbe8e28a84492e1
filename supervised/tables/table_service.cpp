#include <stein/core/error.h>
#include <stein/core/line_stream.h>
#include <stein/runs/measured.h>
#include <stein/supervised/tables/table_service.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

namespace stein::supervised {
namespace {

using Json = nlohmann::ordered_json;

/// Rows that are answered together where so many wait.
constexpr std::size_t most_rows = 256;

class TableService {
 public:
  TableService(const TableEncoding& encoding, std::string_view header, const AnswerRows& answer)
      : lines_(encoding, header), answer_(answer) {}

  Json result() const { return {{"rows", rows_}, {"errors", errors_}}; }
  /// Keeps a line until `write`.
  void take(std::string_view line) {
    Json& answer = answers_.emplace_back(Json::object());
    if (std::string fault = lines_.add(line); !fault.empty()) {
      answer["error"] = std::move(fault);
      ++errors_;
    }
  }
  bool full() const { return answers_.size() >= most_rows; }
  /// Writes a line for every line that was taken.
  void write(std::FILE* out) {
    if (lines_.rows() > 0) predict();
    for (const Json& line : answers_)
      if (std::fputs((line.dump() + "\n").c_str(), out) < 0) fail(ErrorKind::io, "cannot write to standard output");
    if (std::fflush(out) != 0) fail(ErrorKind::io, "cannot write to standard output");
    answers_.clear();
  }

 private:
  void predict() {
    rows_ += lines_.rows();
    TableLines::Encoded encoded = lines_.take();
    std::vector<Json> predicted = answer_(std::move(encoded.inputs));
    std::size_t row = 0;
    for (Json& answer : answers_) {
      if (answer.contains("error")) continue;
      answer = std::move(predicted[row]);
      if (!encoded.unknown[row].empty()) answer["unknown"] = encoded.unknown[row];
      ++row;
    }
  }

  TableLines lines_;
  const AnswerRows& answer_;
  std::vector<Json> answers_;
  std::int64_t rows_ = 0, errors_ = 0;
};

}  // namespace

Json serve_rows(const TableEncoding& encoding, const AnswerRows& answer, const runs::Console& console) {
  LineStream lines(fileno(console.in));
  std::string_view line;
  if (!lines.next(line, console.stop)) return {{"rows", 0}, {"errors", 0}};
  TableService service(encoding, line, answer);
  while (lines.next(line, console.stop)) {
    if (!line.empty()) service.take(line);
    if (service.full() || !lines.ready()) service.write(console.out);
  }
  service.write(console.out);
  return service.result();
}

std::string readable_service(const Json& result) {
  return fmt::format("{} predicted, {}\n", runs::counted(result["rows"].get<std::int64_t>(), "row"),
                     runs::counted(result["errors"].get<std::int64_t>(), "error"));
}

}  // namespace stein::supervised
