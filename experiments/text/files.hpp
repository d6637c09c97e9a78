#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Files that are either written whole or extended by whole rows.
namespace foredraft::experiments {

/// The whole text of a user's file. Throws InputError where it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);

/// Replaces `path` in one step: a temporary file beside it, fsync, rename. A reader sees the old text or the new one.
/// Throws RunError.
void write_file_atomically(const std::string& path, std::string_view text);

/// Creates a folder and its parents. Throws InputError.
void make_folder(const std::string& path);

/// A file that grows at its end, held by one process at a time.
class AppendFile {
 public:
  /// Opens or creates. Throws InputError where another process holds it or it cannot be written.
  explicit AppendFile(const std::string& path);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  AppendFile(AppendFile&&) = delete;
  AppendFile& operator=(AppendFile&&) = delete;
  ~AppendFile();

  /// Keeps the first `bytes` bytes.
  void truncate(std::uint64_t bytes);
  /// All of `bytes` or, with a RunError that gives the reason, none.
  void append(std::string_view bytes);
  /// Onto the disk.
  void sync();
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t size_;
};

}  // namespace foredraft::experiments
