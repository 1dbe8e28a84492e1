#include <stein/core/line_stream.h>
#include <stein/runs/of_each.h>
#include <stein/training/answer_lines.h>
#include <stein/training/line_service.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace stein::training {
namespace {

/// Lines that are answered together where so many wait.
constexpr std::size_t most_lines = 256;

}  // namespace

void LineService::serve(const runs::Console& console) {
  LineStream lines(fileno(console.in));
  for (std::string_view line; lines.next(line, console.stop);) {
    if (std::optional<std::string> fault = keep(line)) faults_.push_back(std::move(*fault));
    if (faults_.size() >= most_lines || !lines.ready()) write(console.out);
  }
  write(console.out);
}

void LineService::write(std::FILE* out) {
  const bool any_kept = std::ranges::any_of(faults_, &std::string::empty);
  const std::vector<nlohmann::ordered_json> answers = any_kept ? answer_kept() : std::vector<nlohmann::ordered_json>{};
  std::size_t next = 0;
  write_lines(runs::of_each(faults_,
                            [&](const std::string& fault) {
                              return fault.empty() ? answers[next++] : nlohmann::ordered_json{{"error", fault}};
                            }),
              out);
  answered_ += static_cast<std::int64_t>(next);
  errors_ += std::ssize(faults_) - static_cast<std::int64_t>(next);
  faults_.clear();
}

}  // namespace stein::training
