// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The only place that opens files to write them and that reads files of a results folder.
///
/// There are two kinds of paths. A path that the *user names* (a configuration, a profile) is opened as named: links
/// and pipes are followed. A file *inside a results folder* may come from someone else: links are not followed, and
/// only regular files are read or written.
namespace foredraft {

inline constexpr std::uint64_t max_document_bytes = std::uint64_t{1}
                                                    << 28U;  ///< maximum size of a file that is read whole: 256 MiB

/// The whole text of a file that the user named. Throws InputError `path: ...` for a folder, for a file that cannot be
/// read, and for one larger than `max_bytes`; reads no more than that.
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

  /// The next bytes, valid until the next call; empty at the end. A regular file ends where it ended when it was
  /// opened, whatever is appended to it. Throws InputError.
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

/// The whole text of a file inside a results folder. Throws InputError `path: ...`, also for a link and for anything
/// that is not a regular file.
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

  /// Skips the next bytes. Throws RunError if the file ends before.
  void skip(std::uint64_t bytes);

  /// The next line without its line end; false at the end. Throws RunError on a line longer than max_line_bytes of
  /// core/documents.hpp.
  [[nodiscard]] bool next_line(std::string& line);

  /// Whether the last line had a line end.
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
/// through a link), then fsync and rename. A reader sees the old text or the new one. If `path` is a link, the link is
/// replaced and its target is left alone. Every function throws RunError `path: cannot be written (reason)`.
class Replacement {
 public:
  explicit Replacement(std::string path);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  Replacement(Replacement&&) = delete;
  Replacement& operator=(Replacement&&) = delete;
  ~Replacement();  ///< without commit(), leaves everything as it was

  void append(std::string_view bytes);
  /// Call once, as the last step.
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  int folder_;
  std::string temporary_;  ///< in the folder; empty after it was renamed or removed
  int file_ = -1;
};

/// Replaces `path` by `text` by means of a Replacement.
void replace_file(const std::string& path, std::string_view text);

/// Appends to a file inside a results folder; hold its WriteLock.
class AppendFile {
 public:
  /// Opens or creates the file. Throws InputError for a link, for a file with several hard links (a backup may share
  /// it), for anything that is not a regular file and for one that may not be written; RunError for a full or broken
  /// disk.
  explicit AppendFile(const std::string& path);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  AppendFile(AppendFile&&) = delete;
  AppendFile& operator=(AppendFile&&) = delete;
  ~AppendFile();

  /// Keeps the first `bytes` bytes.
  void truncate(std::uint64_t bytes);
  /// Appends all of `bytes`; on failure none of them, and throws RunError with the reason.
  void append(std::string_view bytes);
  /// Flushes the file to the disk.
  void sync();
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t size_;
};

/// An exclusive lock on writing into a folder, or to one file, held until this is destroyed. It is an flock on a
/// separate file, which the holder removes; the file that a killed process leaves blocks no one. Take the lock before
/// reading what is there and deciding what to write.
class WriteLock {
 public:
  /// Creates the folder and its parents if needed, and removes temporary files that killed processes left in it. A
  /// folder that this created is removed again on release if it is still empty. Throws InputError `path: ...` if it is
  /// not a folder, cannot be written, or is locked by another process.
  /// folder, cannot be written, or is locked by another process.
  [[nodiscard]] static WriteLock of_folder(const std::string& path);
  /// Locks a file, which need not exist; removes its temporary files that killed processes left. Throws InputError
  /// `path: ...` likewise.
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

/// The sorted names in a folder, without those of locks and temporary files. Throws InputError.
[[nodiscard]] std::vector<std::string> names_in_folder(const std::string& path);

}  // namespace foredraft
