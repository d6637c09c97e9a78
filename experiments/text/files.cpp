#include "experiments/text/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/replace_file.hpp"
#include "experiments/text/problems.hpp"

namespace foredraft::experiments {
namespace {

constexpr mode_t readable_by_all = 0644;

std::string reason() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe): one thread writes files

}  // namespace

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw InputError(fmt::format("{}: is a folder (must be a file)", path));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) throw InputError(fmt::format("{}: cannot be read ({})", path, reason()));
  return text.str();
}

void write_file_atomically(const std::string& path, std::string_view text) {
  try {
    replace_file(path, text);
  } catch (const std::runtime_error& error) {
    throw RunError(error.what());
  }
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw InputError(fmt::format("{}: cannot be created ({})", path, error.message()));
}

AppendFile::AppendFile(const std::string& path)
    : path_(path),
      descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, readable_by_all)),
      size_(0) {
  if (descriptor_ < 0) throw InputError(fmt::format("{}: cannot be written ({})", path, reason()));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw InputError(fmt::format("{}: another run is writing it - wait for it, or use another --out", path));
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::truncate(std::uint64_t bytes) {
  if (bytes == size_) return;
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    throw RunError(fmt::format("{}: cannot be shortened ({})", path_, reason()));
  }
  size_ = bytes;
}

void AppendFile::append(std::string_view bytes) {
  if (!write_all(descriptor_, bytes)) {
    const std::string why = reason();
    static_cast<void>(
        ::ftruncate(descriptor_, static_cast<off_t>(size_)));  // a torn row would be dropped on resume too
    throw RunError(fmt::format("{}: cannot be written ({})", path_, why));
  }
  size_ += bytes.size();
}

void AppendFile::sync() {
  if (::fsync(descriptor_) != 0) throw RunError(fmt::format("{}: cannot be written ({})", path_, reason()));
}

}  // namespace foredraft::experiments
