// Answers to rows of a table that come line by line, until there are no more.
#pragma once

#include <stein/runs/run_action.h>
#include <stein/supervised/tables/table_lines.h>

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace stein::supervised {

/// An answer for each row of some inputs [n, D].
using AnswerRows = std::function<std::vector<nlohmann::ordered_json>(inference::Matrix<float> inputs)>;

/// Reads comma-separated values under a header from the console and writes a line of JSON for each row, as soon as no
/// other row waits: what `answer` says and, where there are any, "unknown": [columns with a category that no row of
/// training has]; or {"error": …} for a row that cannot be read. Empty lines are passed over.
/// @returns {rows, errors}
/// @throws Error(data) for a header that lacks a column; Error(io)
nlohmann::ordered_json serve_rows(const TableEncoding& encoding, const AnswerRows& answer,
                                  const runs::Console& console);

/// "3 rows predicted, 1 error": of what `serve_rows` returned.
std::string readable_service(const nlohmann::ordered_json& result);

}  // namespace stein::supervised
