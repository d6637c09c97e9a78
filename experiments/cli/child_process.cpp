// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "experiments/cli/interrupt.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;
constexpr auto between_looks = std::chrono::milliseconds(5);

bool can_run(const fs::path& program) {
  std::error_code error;
  return fs::is_regular_file(program, error) && ::access(program.c_str(), X_OK) == 0;
}

}  // namespace

int run_and_wait(const std::vector<std::string>& command, ChildOutput output, ChildSignals signals) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == ChildOutput::dropped) {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  } else {
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t blocked;
  sigemptyset(&blocked);
  if (signals == ChildSignals::held_back) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked, number);
  }
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  const std::atomic<bool>& stop = catch_interrupts();
  bool passed_on = false;
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return -1;
    if (stop && !passed_on) passed_on = ::kill(child, SIGTERM) == 0;
    std::this_thread::sleep_for(between_looks);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::string find_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  std::istringstream list(path == nullptr ? "" : path);
  for (std::string folder; std::getline(list, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (candidate.is_absolute() && can_run(candidate)) return candidate.string();
  }
  return {};
}

std::string find_program(const std::string& name) {
  const fs::path beside = fs::path(program_folder()) / name;
  return beside.is_absolute() && can_run(beside) ? beside.string() : find_on_path(name);
}

}  // namespace foredraft::experiments
