// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "logs/log_format.hpp"

namespace foredraft::logs {

/// Number of observations beyond which each is pooled with the next of its kind, so that memory grows only with those
/// that may not be pooled.
inline constexpr std::size_t max_observations = 8192;

/// Maximum number of consecutive bytes that no format recognizes; more are an error, so that an endless input, such as
/// a device, ends. Engines log at least every 10 s.
inline constexpr std::size_t max_unrecognized_bytes = std::size_t{1} << 29U;

/// Nothing in a file is of a known format, and nothing in it looks like one: a note beside the logs.
class UnknownFormat : public InputError {
  using InputError::InputError;
};

/// Reads a log in pieces of any length, ignoring unrelated lines. Formats are recognized by the contents of the lines;
/// one file may have several.
class LogReader {
 public:
  /// `source`: the file in messages. `format`: the only one of `known` to read; empty: all. `known` must outlive this.
  /// Throws InputError for an unknown name.
  explicit LogReader(std::string source, std::string_view format = "", std::span<const LogFormat> known = formats());
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;
  LogReader(LogReader&&) noexcept;
  LogReader& operator=(LogReader&&) noexcept;
  ~LogReader();

  /// Adds the next piece of the file, cut anywhere. Throws InputError for lines of two engines, after
  /// max_unrecognized_bytes, and once there are max_problems problems.
  void add(std::string_view bytes);

  /// All contents; call after the last piece. A last line without its end is read if it is complete. Throws InputError
  /// with all problems, `source:line: key: problem`; UnknownFormat if nothing in the file is of a known format and
  /// `format` named none.
  [[nodiscard]] LogContents finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foredraft::logs
