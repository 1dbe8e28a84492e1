// Runs the program itself, as a person would, and looks at what it prints, leaves behind and returns.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/temporary_directory.h"

namespace stein::test {

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Outcome {
  int code = -1;    ///< exit code; −1 if a signal ended it
  int signal = 0;   ///< the signal that ended it, or 0
  std::string out;  ///< standard output
  std::string err;  ///< standard error
  double peak_megabytes = 0;
  /// Stands beside every assertion that fails while this lives: how the program failed, and its standard error.
  std::shared_ptr<const Catch::ScopedMessage> failure = nullptr;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// A started program. It sees no data sets but those of `data`, and works in `folder`.
class Program {
 public:
  Program(const std::filesystem::path& folder, std::vector<std::string> arguments,
          const std::filesystem::path& data = {}, const char* program = STEIN_PROGRAM)
      : out_(folder / "standard-output"), err_(folder / "standard-error") {
    arguments.insert(arguments.begin(), program);
    for (const std::string& argument : arguments) command_ += argument + " ";
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    process_ = ::fork();
    if (process_ != 0) return;
    ::unsetenv("OMP_NUM_THREADS");  // how many threads it uses is its own affair
    ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    data.empty() ? ::unsetenv("STEIN_DATA") : ::setenv("STEIN_DATA", data.c_str(), 1);
    const bool redirected = redirect(out_, STDOUT_FILENO) && redirect(err_, STDERR_FILENO);
    if (redirected && ::chdir(folder.c_str()) == 0) ::execv(program, pointers.data());
    ::_exit(127);
  }

  void send(int signal) const { ::kill(process_, signal); }
  /// Threads that it has now; 0 if it has ended.
  std::ptrdiff_t thread_count() const {
    std::error_code ended;
    return std::distance(std::filesystem::directory_iterator("/proc/" + std::to_string(process_) + "/task", ended), {});
  }

  /// Waits until `condition` holds; false if the program ended first.
  bool wait_until(const std::function<bool()>& condition) {
    while (!condition()) {
      if (has_ended(WNOHANG)) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  Outcome wait() {
    has_ended(0);
    return {.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : -1,
            .signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0,
            .out = content_of(out_),
            .err = content_of(err_),
            .peak_megabytes = static_cast<double>(usage_.ru_maxrss) / 1e3,
            .failure = failure_};
  }

 private:
  static bool redirect(const std::filesystem::path& path, int descriptor) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    return file >= 0 && ::dup2(file, descriptor) >= 0;
  }

  /// Whether the program has ended; `options` are those of wait4.
  bool has_ended(int options) {
    if (ended_) return true;
    if (::wait4(process_, &status_, options, &usage_) != process_) return false;
    ended_ = true;
    if (status_ != 0)
      failure_ = std::make_shared<const Catch::ScopedMessage>(
          Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
          << command_ << "\n"
          << how_it_ended() << "; standard error:\n"
          << content_of(err_));
    return true;
  }

  std::string how_it_ended() const {
    if (WIFEXITED(status_)) return "ended with exit code " + std::to_string(WEXITSTATUS(status_));
    const char* const name = ::sigabbrev_np(WTERMSIG(status_));
    return "was ended by " + (name != nullptr ? std::string("SIG") + name : std::to_string(WTERMSIG(status_)));
  }

  std::filesystem::path out_, err_;
  std::string command_;
  std::shared_ptr<const Catch::ScopedMessage> failure_;
  pid_t process_ = -1;
  int status_ = 0;
  rusage usage_{};
  bool ended_ = false;
};

/// Runs the program to its end.
inline Outcome run(const std::filesystem::path& folder, std::vector<std::string> arguments,
                   const std::filesystem::path& data = {}) {
  return Program(folder, std::move(arguments), data).wait();
}

/// What `stein predict` answers to lines on standard input, through a shell as a person would do it.
inline std::vector<nlohmann::json> ask(const TemporaryDirectory& folder, const std::string& arguments,
                                       const std::string& lines, int code = 0) {
  std::ofstream(folder / "lines") << lines;
  const std::string command = "cd '" + folder.path().string() + "' && '" STEIN_PROGRAM "' predict " + arguments +
                              " < lines > answers 2> errors";
  const int status = std::system(command.c_str());
  INFO(content_of(folder / "errors"));
  CHECK(WEXITSTATUS(status) == code);
  std::istringstream answers(content_of(folder / "answers"));
  std::vector<nlohmann::json> all;
  for (std::string line; std::getline(answers, line);) all.push_back(nlohmann::json::parse(line));
  return all;
}

/// All files of a folder by name, with their content.
inline std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().filename().string()] = content_of(entry.path());
  return files;
}

}  // namespace stein::test
