// SPDX-License-Identifier: Apache-2.0
#include "core/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/documents.hpp"
#include "core/problems.hpp"
#include "core/readable.hpp"
#include "core/streams.hpp"

namespace foredraft {
namespace {

namespace fs = std::filesystem;

constexpr mode_t as_umask_allows = 0666;
constexpr std::string_view temporary_prefix = ".foredraft-tmp-";  // plots/ uses it too
constexpr std::string_view lock_name = ".foredraft-lock";
constexpr std::size_t random_digits = 16;  // hexadecimal
constexpr std::size_t piece_bytes = std::size_t{1} << 18U;

std::string last_error() { return std::strerror(errno); }  // NOLINT(concurrency-mt-unsafe): glibc's is thread-safe

/// A file descriptor that is closed on destruction.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Why an open file is not valid in a results folder; empty if it is.
std::string reason_against(int descriptor, struct stat& status) {
  if (descriptor < 0)
    return errno == ELOOP ? "it is a link, and links in a results folder are not followed" : last_error();
  if (::fstat(descriptor, &status) != 0) return last_error();
  return S_ISREG(status.st_mode) ? "" : "it is not a regular file";
}

/// Never waits for a pipe or a device.
constexpr int result_flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

ssize_t read_some(int descriptor, char* to, std::size_t bytes) {
  while (true) {
    const ssize_t count = ::read(descriptor, to, bytes);
    if (count >= 0 || errno != EINTR) return count;
  }
}

/// Throws InputError.
std::string read_whole(int descriptor, const std::string& path, std::uint64_t max_bytes) {
  std::string text;
  std::vector<char> piece(piece_bytes);
  while (true) {
    const ssize_t count = read_some(descriptor, piece.data(), piece.size());
    if (count < 0) throw InputError(fmt::format("{}: cannot be read ({})", readable(path), last_error()));
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > max_bytes)
      throw InputError(fmt::format("{}: is larger than {} bytes", readable(path), max_bytes));
  }
}

fs::path folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent;
}

/// Part of temporary names that identifies the target; shortened to keep names within limits.
std::string temporary_ending(const std::string& name) {
  constexpr std::size_t max_bytes = 200;
  return "-" + name.substr(0, max_bytes);
}

/// Name of a temporary file that will be renamed to `name`; unpredictable.
std::string temporary_name(const std::string& name) {
  std::uint64_t random = 0;
  static_cast<void>(::getrandom(&random, sizeof random, 0));  // a name collision is an error, not a security problem
  return fmt::format("{}{:016x}{}", temporary_prefix, random, temporary_ending(name));
}

bool is_ours(std::string_view name) { return name.starts_with(temporary_prefix) || name.starts_with(lock_name); }

/// Removes temporary files that killed processes left in the folder: all, or only those of the file `of`.
void remove_temporary_files(const fs::path& folder, const std::optional<std::string>& of) {
  const std::string ending = of ? temporary_ending(*of) : "";
  const std::size_t length = temporary_prefix.size() + random_digits + ending.size();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(temporary_prefix) && name.ends_with(ending) && (!of || name.size() == length)) {
      ::unlink(entry.path().c_str());
    }
  }
}

}  // namespace

std::string read_file(const std::string& path, std::uint64_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw InputError(fmt::format("{}: cannot be read ({})", readable(path), last_error()));
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
    throw InputError(fmt::format("{}: is a folder (must be a file)", readable(path)));
  }
  return read_whole(file.get(), path, max_bytes);
}

InputReader::InputReader(std::string path) : path_(std::move(path)), descriptor_(STDIN_FILENO), buffer_(piece_bytes) {
  Descriptor file(path_ == "-" ? -1 : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (path_ != "-" && file.get() < 0) {
    throw InputError(fmt::format("{}: cannot be read ({})", readable(path_), last_error()));
  }
  struct stat status {};
  if (::fstat(path_ == "-" ? descriptor_ : file.get(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw InputError(fmt::format("{}: is a folder (must be a file)", readable(path_)));
    if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
  }
  if (path_ != "-") {
    descriptor_ = file.release();
    if (size_ > 0) unread_ = size_;  // files of /proc have no size
  }
}

InputReader::~InputReader() {
  if (path_ != "-") ::close(descriptor_);
}

std::string_view InputReader::read() {
  const ssize_t count = read_some(descriptor_, buffer_.data(), std::min<std::uint64_t>(buffer_.size(), unread_));
  if (count < 0) throw InputError(fmt::format("{}: cannot be read ({})", readable(path_), last_error()));
  unread_ -= static_cast<std::uint64_t>(count);
  return {buffer_.data(), static_cast<std::size_t>(count)};
}

std::string read_result_file(const std::string& path, std::uint64_t max_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | result_flags));
  struct stat status {};
  if (const std::string why = reason_against(file.get(), status); !why.empty()) {
    throw InputError(fmt::format("{}: cannot be read ({})", readable(path), why));
  }
  return read_whole(file.get(), path, max_bytes);
}

ResultReader::ResultReader(std::string path) : path_(std::move(path)), descriptor_(-1), buffer_(piece_bytes) {
  Descriptor file(::open(path_.c_str(), O_RDONLY | result_flags));
  struct stat status {};
  if (const std::string why = reason_against(file.get(), status); !why.empty()) {
    throw RunError(fmt::format("{}: cannot be read ({})", readable(path_), why));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  descriptor_ = file.release();
}

ResultReader::~ResultReader() { ::close(descriptor_); }

bool ResultReader::fill() {
  const ssize_t count = read_some(descriptor_, buffer_.data(), buffer_.size());
  if (count < 0) throw RunError(fmt::format("{}: cannot be read ({})", readable(path_), last_error()));
  unread_ = {buffer_.data(), static_cast<std::size_t>(count)};
  return count > 0;
}

std::string_view ResultReader::read(std::uint64_t max_bytes) {
  if (max_bytes == 0 || (unread_.empty() && !fill())) return {};
  const std::string_view piece = unread_.substr(0, max_bytes);
  unread_.remove_prefix(piece.size());
  return piece;
}

void ResultReader::skip(std::uint64_t bytes) {
  while (bytes > 0) {
    const std::string_view piece = read(bytes);
    if (piece.empty())
      throw RunError(fmt::format("{}: ends early (it was changed while it was read)", readable(path_)));
    bytes -= piece.size();
  }
}

bool ResultReader::next_line(std::string& line) {
  line.clear();
  line_ended_ = false;
  ++line_number_;
  while (!unread_.empty() || fill()) {
    const std::size_t end = unread_.find('\n');
    line.append(unread_.substr(0, end));
    if (line.size() > max_line_bytes) {
      throw RunError(fmt::format("{}:{}: a line of more than {} bytes", readable(path_), line_number_, max_line_bytes));
    }
    line_ended_ = end != std::string_view::npos;
    unread_.remove_prefix(line_ended_ ? end + 1 : unread_.size());
    if (line_ended_) return true;
  }
  return !line.empty();
}

Replacement::Replacement(std::string path)
    : path_(std::move(path)), folder_(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (folder_ < 0) fail();
  const std::string name = temporary_name(fs::path(path_).filename().native());
  Descriptor folder(folder_);  // closed if the next step fails
  file_ = ::openat(folder_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, as_umask_allows);
  if (file_ < 0) fail();
  temporary_ = name;
  folder_ = folder.release();
}

Replacement::~Replacement() {
  if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
  ::close(file_);
  ::close(folder_);
}

void Replacement::append(std::string_view bytes) {
  if (!write_all(file_, bytes)) fail();
}

void Replacement::commit() {
  const std::string name = fs::path(path_).filename();
  if (::fsync(file_) != 0 || ::renameat(folder_, temporary_.c_str(), folder_, name.c_str()) != 0) fail();
  temporary_.clear();
  static_cast<void>(::fsync(folder_));  // some file systems do not support fsync of folders; the rename is still done
}

void Replacement::fail() const {
  throw RunError(fmt::format("{}: cannot be written ({})", readable(path_), last_error()));
}

void replace_file(const std::string& path, std::string_view text) {
  Replacement file(path);
  file.append(text);
  file.commit();
}

AppendFile::AppendFile(const std::string& path) : path_(path), descriptor_(-1), size_(0) {
  int opened = -1;
  do {
    opened = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | result_flags, as_umask_allows);
  } while (opened < 0 && errno == EINTR);
  const bool no_room = opened < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO);
  Descriptor file(opened);
  struct stat status {};
  std::string why = reason_against(file.get(), status);
  if (why.empty() && status.st_nlink > 1) why = "it has several hard links, and all of them would change";
  const std::string text = fmt::format("{}: cannot be written ({})", readable(path), why);
  if (no_room) throw RunError(text);
  if (!why.empty()) throw InputError(text);
  size_ = static_cast<std::uint64_t>(status.st_size);
  descriptor_ = file.release();
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::truncate(std::uint64_t bytes) {
  if (bytes == size_) return;
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    throw RunError(fmt::format("{}: cannot be truncated ({})", readable(path_), last_error()));
  }
  size_ = bytes;
}

void AppendFile::append(std::string_view bytes) {
  if (!write_all(descriptor_, bytes)) {
    const std::string why = last_error();
    static_cast<void>(::ftruncate(descriptor_, static_cast<off_t>(size_)));  // resuming would also drop a partial row
    throw RunError(fmt::format("{}: cannot be written ({})", readable(path_), why));
  }
  size_ += bytes.size();
}

void AppendFile::sync() {
  if (::fsync(descriptor_) != 0)
    throw RunError(fmt::format("{}: cannot be written ({})", readable(path_), last_error()));
}

WriteLock WriteLock::of_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> made;
  for (fs::path folder = path; !folder.empty() && !fs::exists(folder, error); folder = folder.parent_path()) {
    made.push_back(folder.string());
    if (folder == folder.parent_path()) break;
  }
  if (made.empty() && !fs::is_directory(path, error)) {
    throw InputError(fmt::format("{}: is a file - use another --out", readable(path)));
  }
  fs::create_directories(path, error);
  if (error) throw InputError(fmt::format("{}: cannot be created ({})", readable(path), error.message()));
  WriteLock lock(path, (fs::path(path) / lock_name).string());
  lock.made_folders_ = std::move(made);
  remove_temporary_files(path, std::nullopt);
  return lock;
}

WriteLock WriteLock::of_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(folder_of(path), error)) {
    throw InputError(fmt::format("{}: no such folder", readable(folder_of(path).string())));
  }
  const std::string name = fs::path(path).filename();
  WriteLock lock(path, (folder_of(path) / fmt::format("{}-{}", lock_name, name)).string());
  remove_temporary_files(folder_of(path), name);
  return lock;
}

WriteLock::WriteLock(const std::string& path, std::string lock_file) : lock_file_(std::move(lock_file)) {
  while (descriptor_ < 0) {
    Descriptor file(::open(lock_file_.c_str(), O_RDWR | O_CREAT | result_flags, as_umask_allows));
    struct stat opened {};
    if (const std::string why = reason_against(file.get(), opened); !why.empty()) {
      throw InputError(fmt::format("{}: cannot be locked ({}: {})", readable(path), readable(lock_file_), why));
    }
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK)
        throw InputError(fmt::format("{}: cannot be locked ({})", readable(path), last_error()));
      throw InputError(
          fmt::format("{}: another run is writing it - wait for it, or use another --out", readable(path)));
    }
    // The previous holder may have removed the file between our open and lock; retry with the new file.
    struct stat named {};
    const bool still_named =
        ::lstat(lock_file_.c_str(), &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
    if (still_named) descriptor_ = file.release();
  }
}

WriteLock::WriteLock(WriteLock&& other) noexcept
    : lock_file_(std::move(other.lock_file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      made_folders_(std::move(other.made_folders_)) {}

WriteLock::~WriteLock() {
  if (descriptor_ < 0) return;
  ::unlink(lock_file_.c_str());
  ::close(descriptor_);
  for (const std::string& folder : made_folders_) {
    if (::rmdir(folder.c_str()) != 0) break;  // it is not empty
  }
}

std::vector<std::string> names_in_folder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    std::string name = entry.path().filename().string();
    if (!is_ours(name)) names.push_back(std::move(name));
  }
  if (error) throw InputError(fmt::format("{}: cannot be read ({})", readable(path), error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace foredraft
