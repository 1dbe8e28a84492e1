// stein report: one page with interactive plots from one or many runs.
#include <stein/core/atomic_file.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "command.h"
#include "report_page.h"
#include "report_table.h"

namespace stein::cli {
namespace {

struct Arguments {
  std::vector<std::string> runs;
  std::string out;

  /// The page of one run lies with it; that of several where the person is.
  std::filesystem::path page() const {
    if (!out.empty()) return out;
    return runs.size() == 1 ? RunDirectory::open(runs.front()).report() : std::filesystem::path("report.html");
  }
};

}  // namespace

Action report_command(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  command.add_option("RUN", arguments->runs, "Run directories")->required();
  command.add_option("--out", arguments->out,
                     "The page to write (default: report.html, in the run directory if there is one only)");
  return [arguments] {
    std::vector<RunRecord> records;
    for (const std::string& run : arguments->runs) records.push_back(read_run(RunDirectory::open(run)));
    label_apart(records);
    write_file_atomically(arguments->page(), make_report_page(records));
    std::fputs(fmt::format("{}\nThe report: {}\n", make_report_table(records), arguments->page().string()).c_str(),
               stdout);
    return 0;
  };
}

}  // namespace stein::cli
