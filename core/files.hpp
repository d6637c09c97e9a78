// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The only place that writes files and that reads files of a results folder.
///
/// There are two kinds of paths. A path that the *user names* (a configuration, a profile) is opened as named: links
/// and pipes are followed. A file *inside a results folder* may come from someone else, so links are not followed and
/// only regular files are read or written.
namespace foredraft {

/// Maximum size of a file that is read into memory: 256 MiB.
inline constexpr std::uint64_t max_document_bytes = std::uint64_t{1} << 28U;

/// The contents of a file that the user named. Throws InputError `path: ...` for a folder, a file that cannot be read,
/// and a file larger than `max_bytes`, of which the rest is not read.
[[nodiscard]] std::string read_file(const std::string& path, std::uint64_t max_bytes = max_document_bytes);

/// Sequential reading, in constant memory, of a file that the user named or of standard input.
class InputReader {
 public:
  /// `path`: "-" is standard input. Throws InputError `path: ...` for a folder and for a file that cannot be read.
  explicit InputReader(std::string path);
  InputReader(const InputReader&) = delete;
  InputReader& operator=(const InputReader&) = delete;
  InputReader(InputReader&&) = delete;
  InputReader& operator=(InputReader&&) = delete;
  ~InputReader();

  /// The next bytes, valid until the next call; empty at the end. Data appended to a regular file after it was opened
  /// is not read, except from standard input. Throws InputError.
  [[nodiscard]] std::string_view read();

  /// Size of a regular file when it was opened; 0: unknown.
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  std::uint64_t unread_ = UINT64_MAX;  ///< maximum number of bytes still to be read
  std::vector<char> buffer_;
};

/// The contents of a file inside a results folder. Throws InputError `path: ...`, also for a link and for anything that
/// is not a regular file.
[[nodiscard]] std::string read_result_file(const std::string& path, std::uint64_t max_bytes = max_document_bytes);

/// Sequential reading, in constant memory, of a file inside a results folder.
class ResultReader {
 public:
  /// Throws RunError `path: cannot be read (reason)`, also for a link and for anything that is not a regular file.
  explicit ResultReader(std::string path);
  ResultReader(const ResultReader&) = delete;
  ResultReader& operator=(const ResultReader&) = delete;
  ResultReader(ResultReader&&) = delete;
  ResultReader& operator=(ResultReader&&) = delete;
  ~ResultReader();

  /// The next bytes, at most `max_bytes`, valid until the next call; empty at the end. Throws RunError.
  [[nodiscard]] std::string_view read(std::uint64_t max_bytes = UINT64_MAX);

  /// Skips the next bytes. Throws RunError if the file is shorter.
  void skip(std::uint64_t bytes);

  /// The next line without its line end; false at the end. Throws RunError on a line longer than max_line_bytes of
  /// core/documents.hpp.
  [[nodiscard]] bool next_line(std::string& line);

  /// True if the last line had a line end.
  [[nodiscard]] bool line_ended() const { return line_ended_; }

  /// Size of the file when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  [[nodiscard]] bool fill();

  std::string path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  std::vector<char> buffer_;
  std::string_view unread_;  ///< points into buffer_
  std::uint64_t line_number_ = 0;
  bool line_ended_ = false;
};

/// Replaces a file atomically: writes a temporary file with a random name in the same folder (created exclusively, not
/// through a link), then fsync and rename. A reader sees either the old or the new text. If `path` is a link, the link
/// is replaced, not its target. Every function throws RunError `path: cannot be written (reason)`.
class Replacement {
 public:
  explicit Replacement(std::string path);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  Replacement(Replacement&&) = delete;
  Replacement& operator=(Replacement&&) = delete;
  ~Replacement();  ///< without commit(), `path` is unchanged

  void append(std::string_view bytes);
  /// Call once, as the last step.
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  int folder_;
  std::string temporary_;  ///< name in the folder; empty after renaming or removing
  int file_ = -1;
};

/// Writes `text` to `path` with a Replacement.
void replace_file(const std::string& path, std::string_view text);

/// Appends to a file inside a results folder. The caller holds the folder's WriteLock.
class AppendFile {
 public:
  /// Opens or creates the file. Throws InputError for a link, a file with several hard links (such as a backup),
  /// anything that is not a regular file and a file that is not writable; RunError for a full or broken disk.
  explicit AppendFile(const std::string& path);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  AppendFile(AppendFile&&) = delete;
  AppendFile& operator=(AppendFile&&) = delete;
  ~AppendFile();

  /// Truncates the file to `bytes` bytes.
  void truncate(std::uint64_t bytes);
  /// Appends all of `bytes`. On failure appends nothing and throws RunError with the reason.
  void append(std::string_view bytes);
  /// Flushes the file to the disk.
  void sync();
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t size_;
};

/// An exclusive lock for writing a folder or a file, held until destruction. It is an flock on a separate file, which
/// the holder removes; a lock file left by a killed process does not block. Take the lock before reading the existing
/// contents.
class WriteLock {
 public:
  /// Creates the folder and its parents if needed, and removes temporary files left by killed processes. On release,
  /// folders that it created are removed if they are empty. Throws InputError `path: ...` if the path is not a folder,
  /// cannot be written, or is locked by another process.
  [[nodiscard]] static WriteLock of_folder(const std::string& path);
  /// Locks a file, which may be missing, and removes its temporary files left by killed processes. Throws InputError
  /// `path: ...` as of_folder does.
  [[nodiscard]] static WriteLock of_file(const std::string& path);

  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;
  WriteLock(WriteLock&& other) noexcept;
  WriteLock& operator=(WriteLock&&) = delete;
  ~WriteLock();

 private:
  WriteLock(const std::string& path, std::string lock_file);

  std::string lock_file_;
  int descriptor_ = -1;                    ///< -1: moved from
  std::vector<std::string> made_folders_;  ///< innermost first
};

/// The sorted names in a folder, except locks and temporary files. Throws InputError.
[[nodiscard]] std::vector<std::string> names_in_folder(const std::string& path);

}  // namespace foredraft
