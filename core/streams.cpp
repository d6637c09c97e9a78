// SPDX-License-Identifier: Apache-2.0
#include "core/streams.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "core/problems.hpp"

namespace foredraft {

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number, which is this one. The opposite access mode makes reading stdin and
    // writing the others fail.
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
  std::signal(SIGPIPE, SIG_IGN);
}

namespace {

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view red = "\x1b[31m";
constexpr std::string_view plain = "\x1b[0m";

/// True if colors may be printed to this descriptor (https://no-color.org).
bool takes_colors(int descriptor) {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set here
    return std::string_view(value == nullptr ? "" : value);
  };
  return ::isatty(descriptor) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

/// The width of a label at the start of a line: one or two short words, then spaces up to the text column.
std::size_t label_columns(std::string_view line) {
  constexpr std::size_t max_columns = 16;
  const std::size_t end = std::min(line.find("  "), line.size());
  const std::size_t text = line.find_first_not_of(' ', end);
  if (end == 0 || text == std::string_view::npos || text > max_columns) return 0;
  const bool words = std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(end),
                                 [](char c) { return (c >= 'a' && c <= 'z') || c == ' ' || c == '-'; });
  return words ? end : 0;
}

}  // namespace

std::string terminal_text(std::string_view text) {
  const bool for_people = !text.empty() && ((text[0] >= 'A' && text[0] <= 'Z') || (text[0] >= 'a' && text[0] <= 'z'));
  if (!for_people || text.find('\n') + 1 >= text.size()) return std::string(text);
  std::string colored;
  for (bool first = true; !text.empty(); first = false) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t marked = first ? end : label_columns(line);
    if (marked > 0) colored.append(first ? bold : dim).append(line.substr(0, marked)).append(plain);
    colored.append(line.substr(marked)).append(end < text.size() ? "\n" : "");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return colored;
}

void print_result(std::string_view text) {
  const std::string shown = takes_colors(STDOUT_FILENO) ? terminal_text(text) : std::string(text);
  if (write_all(STDOUT_FILENO, shown)) return;
  const char* why = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): glibc's is thread-safe
  throw RunError(fmt::format("standard output: cannot be written ({})", why));
}

void say_error(std::string_view message) {
  std::string text = readable_message(message);
  if (takes_colors(STDERR_FILENO)) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::size_t place = std::min(text.find(": ", begin), end);
      text.insert(place, plain).insert(begin, red);
      begin = end + red.size() + plain.size() + 1;
    }
  }
  talk(text + "\n");
}

void talk(std::string_view text) noexcept { static_cast<void>(write_all(STDERR_FILENO, text)); }

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace foredraft
