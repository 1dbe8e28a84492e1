#include <stein/core/error.h>
#include <stein/runs/measured.h>
#include <stein/supervised/tables/table_service.h>
#include <stein/training/line_service.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace stein::supervised {
namespace {

using Json = nlohmann::ordered_json;

class TableService final : public training::LineService {
 public:
  TableService(const TableEncoding& encoding, const AnswerRows& answer) : encoding_(encoding), answer_(answer) {}

 private:
  /// The first line is the header.
  std::optional<std::string> keep(std::string_view line) override {
    if (!lines_) {
      lines_.emplace(encoding_, line);
      return std::nullopt;
    }
    if (line.empty() && lines_->columns() == 1) return "an empty line; a cell without a value is written \"\"";
    if (line.empty()) return std::nullopt;
    return lines_->add(line);
  }
  std::vector<Json> answer_kept() override {
    TableLines::Encoded encoded = lines_->take();
    std::vector<Json> answers = answer_(std::move(encoded.inputs));
    for (std::size_t row = 0; row < answers.size(); ++row)
      if (!encoded.unknown[row].empty()) answers[row]["unknown"] = encoded.unknown[row];
    return answers;
  }

  const TableEncoding& encoding_;
  const AnswerRows& answer_;
  std::optional<TableLines> lines_;
};

}  // namespace

Json serve_rows(const TableEncoding& encoding, const AnswerRows& answer, const runs::Console& console) {
  TableService service(encoding, answer);
  service.serve(console);
  if (service.answered() == 0 && service.errors() > 0)
    fail(ErrorKind::data, "none of {} could be read; why is said line by line", runs::counted(service.errors(), "row"));
  return {{"rows", service.answered()}, {"errors", service.errors()}};
}

std::string readable_service(const Json& result) {
  return fmt::format("{} predicted, {}\n", runs::counted(result["rows"].get<std::int64_t>(), "row"),
                     runs::counted(result["errors"].get<std::int64_t>(), "error"));
}

}  // namespace stein::supervised
