// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <re2/re2.h>
#include <re2/set.h>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "logs/log_format.hpp"
#include "logs/patterns.hpp"

/// What tells the formats' lines and values from others.
namespace foredraft::logs {

/// A set of patterns that are searched for at once.
class AnchorSet {
 public:
  void add(std::string_view pattern);
  void compile();
  /// The patterns found in `text`, ascending: 0 is the one added first.
  [[nodiscard]] std::vector<int> in(std::string_view text) const;

 private:
  RE2::Set set_{byte_options(), RE2::UNANCHORED};
  bool empty_ = true;
};

/// The anchors of formats, in their order.
struct Anchors {
  AnchorSet lines = {}, values = {};   ///< of formats of lines, with those of launches; of values
  std::optional<RE2> anything = {};    ///< of all formats: text without a match belongs to none
  std::optional<RE2> beginnings = {};  ///< the same, and the beginnings of values
  std::optional<RE2> records = {};     ///< of the format of tables (TableFormat)
};

/// The anchors of formats. Those of the program's own are compiled once: that takes longer than reading a short log.
[[nodiscard]] std::shared_ptr<const Anchors> anchors_of(std::span<const LogFormat* const> of);

}  // namespace foredraft::logs
