// stein report: one page with interactive plots from one or many runs.
#include <fmt/format.h>
#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/runs/report_page.h>
#include <stein/runs/report_table.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/sweep.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"
#include "sweep_report.h"

namespace stein::cli {
namespace {

constexpr std::string_view page_begin = "<!DOCTYPE html>";

struct ReportArguments {
  std::vector<std::string> folders;
  std::string out;

  /// What the runs left, those of a sweep in its place.
  std::vector<runs::RunRecord> records() const {
    std::vector<runs::RunRecord> found;
    for (const std::string& folder : folders) {
      if (!runs::Sweep::is_in(folder)) {
        found.push_back(runs::read_run_so_far(RunDirectory::open(folder)));
        continue;
      }
      for (runs::RunRecord& record : runs_so_far(runs::Sweep::open(folder))) found.push_back(std::move(record));
    }
    return found;
  }
  /// The table of those that have a result, or of one sweep in its own; a line each of the others.
  std::string table(std::vector<runs::RunRecord> records) const {
    std::string others;
    std::erase_if(records, [&](const runs::RunRecord& record) {
      if (record.unfinished.empty()) return false;
      others += fmt::format("After {} {}: {}\n", record.summary["steps"].get<std::int64_t>(), record.kind->unit,
                            record.unfinished);
      return true;
    });
    if (records.empty()) return others;
    const bool one_sweep = folders.size() == 1 && runs::Sweep::is_in(folders.front());
    const std::string table =
        one_sweep ? table_of_sweep(runs::Sweep::open(folders.front()), records) : runs::make_report_table(records);
    return others.empty() ? table : table + "\n" + others;
  }
  /// Throws Error(usage) where the page would replace a file that is none.
  void check_page() const {
    std::error_code ignored;
    const std::filesystem::path path = page();
    if (!std::filesystem::exists(path, ignored)) return;
    STEIN_CHECK(std::filesystem::is_regular_file(path, ignored), "--out {}: expected a file, that is none",
                path.string());
    std::ifstream file(path, std::ios::binary);
    std::string begin(page_begin.size(), '\0');
    file.read(begin.data(), std::ssize(begin));
    STEIN_CHECK(begin == page_begin, "--out {}: there is a file of that name that is no report; name another",
                path.string());
  }
  /// The page of one run or sweep lies with it; that of several where the person is.
  std::filesystem::path page() const {
    if (!out.empty()) return out;
    return folders.size() == 1 ? std::filesystem::path(folders.front()) / "report.html" : "report.html";
  }
};

}  // namespace

Action report_command(CLI::App& command, const Arguments&) {
  const auto arguments = std::make_shared<ReportArguments>();
  command.add_option("RUN", arguments->folders, "Run directories, or folders of sweeps")->required();
  command.add_option("--out", arguments->out,
                     "The page to write (default: report.html, in the run directory if there is one only)");
  return [arguments] {
    arguments->check_page();
    std::vector<runs::RunRecord> records = arguments->records();
    runs::label_apart(records);
    write_file_atomically(arguments->page(), runs::make_report_page(records));
    std::fputs(
        fmt::format("{}\nThe report: {}\n", arguments->table(std::move(records)), arguments->page().string()).c_str(),
        stdout);
    return 0;
  };
}

}  // namespace stein::cli
