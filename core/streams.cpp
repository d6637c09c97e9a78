// SPDX-License-Identifier: Apache-2.0
#include "core/streams.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/problems.hpp"

namespace foredraft {

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() takes the lowest free number, which is this one. The opposite direction makes reading stdin and writing
    // the others fail.
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
  std::signal(SIGPIPE, SIG_IGN);
}

void print_result(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return;
  const char* why = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): glibc's is thread-safe
  throw RunError(fmt::format("standard output: cannot be written ({})", why));
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
