#include "env_trace.h"

#include <stein/core/error.h>
#include <stein/core/read_file.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string to_json(const envs::SingleEnvironment& environment, const ActionLine& action,
                    const envs::Transition& made) {
  return Json{{"state", environment.state()},  {"observation", environment.observation()},
              {"action", action.numbers},      {"reward", made.reward},
              {"terminated", made.terminated}, {"truncated", made.truncated}}
      .dump();
}

std::string to_text(std::size_t step, const envs::SingleEnvironment& environment, const ActionLine& action,
                    const envs::Transition& made) {
  const char* end = made.terminated ? "  terminated" : made.truncated ? "  truncated" : "";
  return fmt::format("{:>6}  action {:.6g}  reward {:.6g}  state {:.6g}{}", step, fmt::join(action.numbers, " "),
                     made.reward, fmt::join(environment.state(), " "), end);
}

envs::Transition step(envs::SingleEnvironment& environment, const ActionLine& action, const std::string& file) {
  try {
    return environment.step(action.numbers);
  } catch (const Error& error) {
    const bool finite = std::ranges::all_of(action.numbers, [](double number) { return std::isfinite(number); });
    fail(finite ? error.kind() : ErrorKind::data, "{}, line {}: {}", file, action.line, error.what());
  }
}

}  // namespace

std::vector<double> parse_numbers(const std::string& text, const std::string& source) {
  std::string blanks = text;
  std::ranges::replace_if(
      blanks, [](char c) { return c == ',' || c == '\t' || c == '\r'; }, ' ');
  std::istringstream words(blanks);
  std::vector<double> numbers;
  for (std::string word; words >> word;) {
    const char* begin = word.data() + (word.starts_with('+') ? 1 : 0);
    const char* end = word.data() + word.size();
    double number = 0;
    const auto [stop, error] = std::from_chars(begin, end, number);
    STEIN_CHECK(error == std::errc{} && stop == end, "{}: expected numbers, got '{}'", source, word);
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<ActionLine> read_actions(const std::filesystem::path& path, const std::vector<envs::Quantity>& actions) {
  std::istringstream lines(read_file(path));
  std::vector<ActionLine> result;
  std::int64_t number = 0;
  for (std::string text; std::getline(lines, text);) {
    ++number;
    const std::string source = fmt::format("{}, line {}", path.string(), number);
    ActionLine action{.line = number, .numbers = {}};
    try {
      action.numbers = parse_numbers(text.substr(0, text.find('#')), source);
    } catch (const Error& error) {
      throw Error(ErrorKind::data, error.what());
    }
    if (action.numbers.empty()) continue;
    if (action.numbers.size() != actions.size())
      fail(ErrorKind::data, "{}: expected {} number{}, one for each of an action's quantities, got {}", source,
           actions.size(), actions.size() == 1 ? "" : "s", action.numbers.size());
    result.push_back(std::move(action));
  }
  if (result.empty()) fail(ErrorKind::data, "{}: expected an action a line, found none", path.string());
  return result;
}

void print_trace(envs::SingleEnvironment& environment, const std::vector<ActionLine>& actions, const std::string& file,
                 TraceForm form) {
  for (std::size_t t = 0; t < actions.size(); ++t) {
    const envs::Transition made = step(environment, actions[t], file);
    const std::string line = form == TraceForm::json ? to_json(environment, actions[t], made)
                                                     : to_text(t + 1, environment, actions[t], made);
    std::puts(line.c_str());
    const std::size_t left = actions.size() - t - 1;
    if ((made.terminated || made.truncated) && left > 0)
      fail(ErrorKind::usage, "{}: the episode was {} by the action of line {}, and {} action{} left", file,
           made.terminated ? "terminated" : "truncated", actions[t].line, left, left == 1 ? " is" : "s are");
  }
}

}  // namespace stein::cli
