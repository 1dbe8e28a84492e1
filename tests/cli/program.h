// Runs the program itself, as a person would, and looks at what it prints, leaves behind and returns.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
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

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// A started program. It sees no data sets but those of `data`, and works in `folder`.
class Program {
 public:
  Program(const std::filesystem::path& folder, std::vector<std::string> arguments,
          const std::filesystem::path& data = {}, const char* program = STEIN_PROGRAM)
      : folder_(folder), out_(folder / "standard-output"), err_(folder / "standard-error") {
    arguments.insert(arguments.begin(), program);
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
      if (ended_ || ::wait4(process_, &status_, WNOHANG, &usage_) == process_) {
        ended_ = true;
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  Outcome wait() {
    if (!ended_) ::wait4(process_, &status_, 0, &usage_);
    ended_ = true;
    return {.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : -1,
            .signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0,
            .out = content_of(out_),
            .err = content_of(err_),
            .peak_megabytes = static_cast<double>(usage_.ru_maxrss) / 1e3};
  }

 private:
  static bool redirect(const std::filesystem::path& path, int descriptor) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    return file >= 0 && ::dup2(file, descriptor) >= 0;
  }

  std::filesystem::path folder_, out_, err_;
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

/// All files of a folder by name, with their content.
inline std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().filename().string()] = content_of(entry.path());
  return files;
}

}  // namespace stein::test
