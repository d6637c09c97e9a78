// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The only place that opens files to write them and that reads files of a results folder.
///
/// Two kinds of paths are told apart. What the *user names* (a configuration, a profile) is opened as named: links and
/// pipes are followed. What lies *inside a results folder* may have been put there by somebody else: links are not
/// followed, and only regular files are read or written.
namespace foredraft {

inline constexpr std::uint64_t max_document_bytes = std::uint64_t{1} << 28U;  ///< of a file that is read whole: 256 MiB

/// The whole text of a file that the user named. Throws InputError `path: ...` for a folder, for a file that cannot be
/// read, and for one larger than `max_bytes`, of which no more is read.
[[nodiscard]] std::string read_file(const std::string& path, std::uint64_t max_bytes = max_document_bytes);

/// A file that the user named, or standard input, read from its start to its end in constant memory.
class InputReader {
 public:
  /// `path`: "-" is standard input. Throws InputError `path: ...` for a folder and for what cannot be read.
  explicit InputReader(std::string path);
  InputReader(const InputReader&) = delete;
  InputReader& operator=(const InputReader&) = delete;
  InputReader(InputReader&&) = delete;
  InputReader& operator=(InputReader&&) = delete;
  ~InputReader();

  /// The next bytes, valid until the next call; none at the end. Throws InputError.
  [[nodiscard]] std::string_view read();

  /// Of a regular file when it was opened; 0: unknown.
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  std::string path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  std::vector<char> buffer_;
};

/// The whole text of a file inside a results folder. Throws InputError `path: ...`, also for a link and for anything
/// that is not a regular file.
[[nodiscard]] std::string read_result_file(const std::string& path, std::uint64_t max_bytes = max_document_bytes);

/// A file inside a results folder, read from its start to its end in constant memory.
class ResultReader {
 public:
  /// Throws RunError `path: cannot be read (reason)`, also for a link and for anything that is not a regular file.
  explicit ResultReader(std::string path);
  ResultReader(const ResultReader&) = delete;
  ResultReader& operator=(const ResultReader&) = delete;
  ResultReader(ResultReader&&) = delete;
  ResultReader& operator=(ResultReader&&) = delete;
  ~ResultReader();

  /// The next bytes, at most `max_bytes` of them, valid until the next call; none at the end. Throws RunError.
  [[nodiscard]] std::string_view read(std::uint64_t max_bytes = UINT64_MAX);

  /// Passes over the next bytes. Throws RunError where the file ends before.
  void skip(std::uint64_t bytes);

  /// The next line without its line end; false at the end. Throws RunError on a line longer than max_line_bytes of
  /// core/documents.hpp.
  [[nodiscard]] bool next_line(std::string& line);

  /// Whether the last line had a line end.
  [[nodiscard]] bool line_ended() const { return line_ended_; }

  /// Of the file when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  [[nodiscard]] bool fill();

  std::string path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  std::vector<char> buffer_;
  std::string_view unread_;  ///< of buffer_
  std::uint64_t line_number_ = 0;
  bool line_ended_ = false;
};

/// A new text of a file that takes the place of the old one in one step: a temporary file of a random name in the same
/// folder, made for this and not through a link, then fsync and rename. A reader sees the old text or the new one.
/// Where `path` is a link, the link is replaced and what it names is left alone. Everything throws RunError `path:
/// cannot be written (reason)`.
class Replacement {
 public:
  explicit Replacement(std::string path);
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  Replacement(Replacement&&) = delete;
  Replacement& operator=(Replacement&&) = delete;
  ~Replacement();  ///< without commit(), as if nothing had been

  void append(std::string_view bytes);
  /// Call once, at the end.
  void commit();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  int folder_;
  std::string temporary_;  ///< in the folder; empty once it is gone
  int file_ = -1;
};

/// Replaces `path` by `text` as a Replacement does.
void replace_file(const std::string& path, std::string_view text);

/// A file that grows at its end, inside a results folder whose WriteLock is held.
class AppendFile {
 public:
  /// Opens or creates. Throws InputError for a link, for a file of several names (hard links: a backup may share it),
  /// for anything that is not a regular file and for one that may not be written; RunError for a full or broken disk.
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

/// The right to write into a folder, or to one file: held by one process at a time, until this is destroyed. It is an
/// flock on a file of its own, which the holder removes; what a killed process leaves of it locks nobody out. Take it
/// before you look at what is there and decide what to write.
class WriteLock {
 public:
  /// Creates the folder with its parents where needed, and removes temporary files that killed processes left in it.
  /// An empty folder that this created is removed again on release. Throws InputError `path: ...` for what is not a
  /// folder, cannot be written, or is locked by another process.
  [[nodiscard]] static WriteLock of_folder(const std::string& path);
  /// Of a file that exists or not; removes temporary files that killed processes left of it. Throws InputError
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
  std::vector<std::string> made_folders_;  ///< the innermost first
};

/// The names in a folder, sorted, without those of locks and temporary files. Throws InputError.
[[nodiscard]] std::vector<std::string> names_in_folder(const std::string& path);

}  // namespace foredraft
