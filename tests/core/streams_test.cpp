// SPDX-License-Identifier: Apache-2.0
#include "core/streams.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>

#include "foredraft/errors.hpp"

namespace foredraft {
namespace {

/// The exit code of a child that runs `body`, without test assertions in it; -1 if a signal ended it.
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

/// The terminal output of a child that prints a result and an error, with these variables.
std::string shown_on_a_terminal(const char* term, const char* no_color) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE((terminal >= 0 && ::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0));
  const int inside = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);  // NOLINT(concurrency-mt-unsafe): one thread
  const int code = exit_code_of([&] {
    ::setenv("TERM", term, 1);          // NOLINT(concurrency-mt-unsafe): one thread
    ::setenv("NO_COLOR", no_color, 1);  // NOLINT(concurrency-mt-unsafe): one thread
    ::dup2(inside, STDOUT_FILENO);
    ::dup2(inside, STDERR_FILENO);
    print_result("the answer\nlabel       text\n");
    say_error("place: problem");
    return 0;
  });
  REQUIRE(code == 0);
  ::close(inside);
  // A terminal may return the output in pieces; without a writer it ends after the last one.
  std::string text;
  std::array<char, 200> bytes{};
  for (ssize_t count = 0; (count = ::read(terminal, bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  ::close(terminal);
  std::erase(text, '\r');
  return text;
}

}  // namespace

TEST_CASE("a terminal shows colors, unless NO_COLOR is set or the terminal has none") {
  const std::string colored =
      "\x1b[1mthe answer\x1b[0m\n\x1b[2mlabel\x1b[0m       text\n\x1b[31mplace\x1b[0m: problem\n";
  const std::string plain = "the answer\nlabel       text\nplace: problem\n";
  if (::access("/dev/pts/ptmx", F_OK) != 0) {
    WARN("no terminals here (/dev/pts is not mounted): not tested");
    return;
  }
  CHECK(shown_on_a_terminal("xterm", "") == colored);
  CHECK(shown_on_a_terminal("xterm", "1") == plain);
  CHECK(shown_on_a_terminal("dumb", "") == plain);
}

TEST_CASE("colors mark the first line and labels, but not JSON, tables for documents and single lines") {
  for (const char* same :
       {"{\n  \"a\": 1\n}\n", "| a | b |\n|---|---|\n", "# a script\n", "one line\n", "1,2\n3,4\n", ""}) {
    CHECK(terminal_text(same) == same);
  }
  CHECK(terminal_text(
            "answer\n\nnear best   7 to 9\nspeedup                 3.1\n  0.5  1.2\nA longer sentence  here\nend") ==
        "\x1b[1manswer\x1b[0m\n\n\x1b[2mnear best\x1b[0m   7 to 9\nspeedup                 3.1\n  0.5  1.2\nA longer "
        "sentence  here\nend");
}

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

TEST_CASE("a result that cannot be written is an error, a message that cannot be written is dropped") {
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
