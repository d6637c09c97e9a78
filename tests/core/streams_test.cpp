// SPDX-License-Identifier: Apache-2.0
#include "core/streams.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <catch2/catch.hpp>
#include <functional>

#include "core/problems.hpp"

namespace foredraft {
namespace {

/// The exit code of a child that runs `body`, in which no test may fail; -1 where a signal ended it.
int exit_code_of(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool throws_run_error(const std::function<void()>& body) {
  try {
    body();
  } catch (const RunError&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("no file gets the number of a standard stream that was closed") {
  for (unsigned closed = 0; closed < 8; ++closed) {
    CAPTURE(closed);
    CHECK(exit_code_of([closed] {
            for (int stream = 0; stream < 3; ++stream) {
              if ((closed >> static_cast<unsigned>(stream) & 1U) != 0) ::close(stream);
            }
            open_standard_streams();
            return ::open("/dev/null", O_RDONLY) > STDERR_FILENO ? 0 : 1;
          }) == 0);
  }
}

TEST_CASE("a result that cannot be written is an error, talk that cannot be written is dropped") {
  const auto into = [](int stream, const char* path) { ::dup2(::open(path, O_WRONLY), stream); };
  CHECK(exit_code_of([&] {
          into(STDOUT_FILENO, "/dev/full");
          return throws_run_error([] { print_result("result\n"); }) ? 0 : 1;
        }) == 0);
  CHECK(exit_code_of([&] {
          into(STDERR_FILENO, "/dev/full");
          say("{} points", 3);
          return 0;
        }) == 0);
  CHECK(exit_code_of([] {
          ::close(STDOUT_FILENO);
          ::close(STDERR_FILENO);
          open_standard_streams();
          say("nobody reads this");
          return throws_run_error([] { print_result("result\n"); }) ? 0 : 1;
        }) == 0);
}

TEST_CASE("a pipe that nobody reads is an error of the write, not the end of the program") {
  CHECK(exit_code_of([] {
          std::array<int, 2> ends{};
          if (::pipe(ends.data()) != 0) return 1;
          ::close(ends[0]);
          ::dup2(ends[1], STDOUT_FILENO);
          ::dup2(ends[1], STDERR_FILENO);
          open_standard_streams();
          say("dropped");
          return throws_run_error([] { print_result("result\n"); }) ? 0 : 2;
        }) == 0);
}

}  // namespace foredraft
