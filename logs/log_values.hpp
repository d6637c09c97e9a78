// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logs/anchors.hpp"
#include "logs/findings.hpp"
#include "logs/json_records.hpp"
#include "logs/json_values.hpp"
#include "logs/log_format.hpp"
#include "logs/log_tables.hpp"

/// Offers the JSON values of a log to their formats.
namespace foredraft::logs {

class LogValues {
 public:
  /// `anchors`: those of `formats`; the parameters must live longer than this.
  LogValues(std::span<const LogFormat* const> formats, const Anchors& anchors, Findings& findings, LogTables& tables);

  /// Reads a value like the last one with the same format. Returns false for all others.
  bool again(std::string_view text);
  /// True if a format recognized the value `text`. `words`: those before it on its line, which may name its arm.
  bool value(std::string_view text, std::int64_t number, std::string_view words = {});
  /// As value(), for one cut off by the end of the log: reads its complete parts, or nothing if one is invalid.
  bool cut(std::string_view text, std::int64_t number);
  /// The texts in the value `text`, if at least two of their lines match an anchor: a document that contains a log.
  [[nodiscard]] std::optional<std::string> texts(std::string_view text);
  /// Completes the formats' readings; reads records of no format if the log has nothing else.
  void finish();

  /// True unless a value was broken or resembled a format.
  [[nodiscard]] bool all_clear() const { return resembled_ == nullptr && broken_line_ == 0; }
  /// Adds to `nothing`, the problem of a log without a known format, why a value of it has none.
  void explain(Problem& nothing) const;

 private:
  [[nodiscard]] const LogFormat* claimant(const JsonValue& value, std::span<const int> matching,
                                          std::size_t depth) const;
  bool offer_value(const JsonValue& value, std::span<const int> matching, std::size_t depth);
  bool read_value(const LogFormat& format, const JsonValue& value);
  void finish_formats();
  void keep_records(const JsonValue& value, std::int64_t line, const std::string& name);
  void note_resembled(std::string_view text, std::span<const int> matching);

  std::vector<const LogFormat*> formats_ = {};
  const Anchors& anchors_;
  Findings& findings_;
  LogTables& tables_;
  JsonDocument document_ = {};
  const LogFormat* last_ = nullptr;       ///< that recognized the last value
  std::uint64_t last_shape_ = 0;          ///< of that value
  const char* counted_to_ = nullptr;      ///< in the text of a document: where line `findings_.line` is
  std::size_t offers_left_ = 0;           ///< for values within a document
  std::vector<JsonRecord> records_ = {};  ///< read if the log has nothing else
  std::size_t other_records_ = 0;         ///< values without any
  /// The format of the first value that has a key of it, but too few, and the line of the value.
  const LogFormat* resembled_ = nullptr;
  std::int64_t resembled_line_ = 0;
  std::int64_t broken_line_ = 0;  ///< where the last invalid JSON value breaks
  /// Formats whose JsonFormat::finish is to be called.
  std::set<const LogFormat*> unfinished_ = {};
};

}  // namespace foredraft::logs
