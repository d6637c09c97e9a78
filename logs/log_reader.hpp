// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "logs/log_format.hpp"

namespace foredraft::logs {

/// Beyond so many observations each is pooled with the next of its kind, two into one: memory does not grow with a log.
inline constexpr std::size_t max_observations = 8192;

/// Reads a log piece by piece, of any length, with whatever stands between its lines. The formats are told by what the
/// lines say; one file may hold several.
class LogReader {
 public:
  /// `source`: the file as messages name it. `format`: the name of the only one of `known` that is read; empty: all.
  /// `known` outlives this. Throws InputError on an unknown name.
  explicit LogReader(std::string source, std::string_view format = "", std::span<const LogFormat> known = formats());
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;
  LogReader(LogReader&&) noexcept;
  LogReader& operator=(LogReader&&) noexcept;
  ~LogReader();

  /// The next piece of the file, cut anywhere. Throws InputError on lines of two engines, and once max_problems lines
  /// were refused.
  void add(std::string_view bytes);

  /// Everything, after the last piece. A last line without its end is read where it is complete. Throws InputError
  /// with all problems, `source:line: key: problem`, and where nothing in the file belongs to a known format.
  [[nodiscard]] LogContents finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace foredraft::logs
