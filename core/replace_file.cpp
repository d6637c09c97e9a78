#include "core/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace foredraft {
namespace {

constexpr mode_t readable_by_all = 0644;

std::string last_error() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe): one thread writes files

/// A rename lasts when its folder is on the disk. A file system that cannot do this still has the rename.
void sync_folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  static_cast<void>(::fsync(folder));
  ::close(folder);
}

}  // namespace

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

void replace_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".tmp";
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(fmt::format("{}: cannot be written ({})", path, why));
  };
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readable_by_all);
  if (descriptor < 0) refuse(last_error());
  const bool sound = write_all(descriptor, text) && ::fsync(descriptor) == 0;
  const std::string why = sound ? std::string{} : last_error();
  ::close(descriptor);
  if (!sound || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string cause = sound ? last_error() : why;
    ::unlink(temporary.c_str());
    refuse(cause);
  }
  sync_folder_of(path);
}

}  // namespace foredraft
