// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "logs/arms.hpp"
#include "logs/observation.hpp"
#include "logs/setups.hpp"

/// Lines that say in which order the arms follow below them: "First without, then with MTP (K = 3):".
namespace foredraft::logs {

struct ArmOrder {
  Arm first = {}, second = {};  ///< one of them is plain
};

/// The arms that a line names one after the other; nullopt if it does not.
[[nodiscard]] std::optional<ArmOrder> arm_order_in(std::string_view line);

/// The order that the lines above runs and tables state.
class OrderedRuns {
 public:
  /// `caption`: a line above what line `number` begins.
  void note(std::string_view caption, std::int64_t number);
  /// Gives both arms to what follows the line, if these are two tables, two runs or runs at the same loads twice, and
  /// none says otherwise.
  void name_runs(std::span<const ReadTable> tables, LogContents& contents) const;

 private:
  std::string line_ = {};
  std::int64_t number_ = 0;
  std::optional<ArmOrder> order_ = {};
};

}  // namespace foredraft::logs
