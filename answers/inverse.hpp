// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "core/intervals.hpp"
#include "core/table.hpp"
#include "foredraft/scenario.hpp"

/// Where the result is known: which alpha, c or overhead explains a measured speedup, which alpha a measured acceptance
/// length.
namespace foredraft::answers {

enum class Sought { alpha, c, overhead };

/// Of constant drafts of `scenario.gamma` >= 1 tokens. The sought value is 0 in the scenario.
struct InverseQuestion {
  Scenario scenario = {};
  Sought sought = Sought::alpha;
  PrintedNumber measured = {};
  bool is_length = false;  ///< `measured` is the acceptance length, which says nothing of costs; else the speedup
};

/// In decode steps of the target where it is c or an overhead.
struct InverseAnswer {
  std::optional<double> value = {};       ///< nothing: none explains the measured number as it is printed
  std::optional<Interval> interval = {};  ///< of the numbers that round to the printed one; nothing: none of them
  double low = 0.0, high = 0.0;           ///< what any alpha in [0, 1], or any cost >= 0, gives
};

/// i.i.d. acceptance for Sought::alpha. Throws DomainError for an acceptance without a closed form, and for the
/// c of a drafter that takes no pass.
[[nodiscard]] InverseAnswer invert(const InverseQuestion& question);

[[nodiscard]] std::string_view name_of(Sought sought);

/// Schema foredraft.predict.inverse/1.
[[nodiscard]] nlohmann::ordered_json to_json(const InverseQuestion& question);

/// Time of an iteration of `scenario.gamma` drafts in decode steps of the target.
[[nodiscard]] double iteration_steps(const Scenario& scenario);

}  // namespace foredraft::answers
