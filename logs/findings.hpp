// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/problems.hpp"
#include "logs/log_format.hpp"
#include "logs/record_fields.hpp"

/// What the formats read from a log.
namespace foredraft::logs {

/// The contents of a log and its problems, while formats are offered its lines, values and tables.
class Findings {
 public:
  /// `source`: the log's name, for problems.
  explicit Findings(std::string source);

  /// The result of `read`; true if it throws RejectedRecord, which is collected.
  template <typename Read>
  bool taken(const Read& read) {
    try {
      return read();
    } catch (const RejectedRecord& rejected) {
      if (on_trial) throw;
      collect(rejected);
      return true;
    }
  }

  /// Whether `offer` says that its format claimed the item; if so, records it.
  template <typename Offer>
  bool claimed(const LogFormat& format, const Offer& offer) {
    const std::string engine_before = contents.engine;
    if (!taken(offer)) return false;
    note_claim(format, engine_before);
    return true;
  }

  /// Adds the name of a format to the contents.
  void note_format(const LogFormat& format);
  /// Takes back what was read since `before` was copied.
  void restore(LogContents before);
  /// True if a format claimed something since the last call.
  [[nodiscard]] bool took_something() { return std::exchange(took_something_, false); }
  /// Adds an error and throws all.
  [[noreturn]] void fail(Problem problem);

  LogContents contents = {};
  ProblemList problems;
  std::int64_t line = 0;  ///< of the item that is read
  bool on_trial = false;  ///< RejectedRecord is thrown on, not collected

 private:
  void collect(const RejectedRecord& rejected);
  void note_claim(const LogFormat& format, const std::string& engine_before);

  const LogFormat* noted_ = nullptr;  ///< the last that was added to the contents
  std::size_t pool_beyond_;
  bool took_something_ = false;
};

}  // namespace foredraft::logs
