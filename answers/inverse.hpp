// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "core/intervals.hpp"
#include "core/table.hpp"
#include "foredraft/scenario.hpp"

/// Inverse questions: which alpha, c or overhead explains a measured speedup, or which alpha explains a measured
/// acceptance length.
namespace foredraft::answers {

enum class Sought { alpha, c, overhead };

/// For a constant draft length `scenario.gamma` >= 1. If a cost is sought, it is 0 in the scenario.
struct InverseQuestion {
  Scenario scenario = {};
  Sought sought = Sought::alpha;
  PrintedNumber measured = {};
  bool is_length =
      false;  ///< true: `measured` is an acceptance length, which does not depend on costs; false: a speedup
};

/// c and an overhead are in decode steps of the target.
struct InverseAnswer {
  std::optional<double> value = {};       ///< empty: no value explains the measured number
  std::optional<Interval> interval = {};  ///< of the values for all numbers that round to the measured one; empty: none
  double low = 0.0, high = 0.0;           ///< range of the measured number over all alpha in [0, 1] or costs >= 0
};

/// The answer. Acceptance is i.i.d. for Sought::alpha. Throws DomainError for an acceptance without a closed form, and
/// for the c of a drafter without forward passes.
[[nodiscard]] InverseAnswer invert(const InverseQuestion& question);

[[nodiscard]] std::string_view name_of(Sought sought);

/// Schema foredraft.predict.inverse/1.
[[nodiscard]] nlohmann::ordered_json to_json(const InverseQuestion& question);

/// Time of an iteration with `scenario.gamma` drafts, in decode steps of the target.
[[nodiscard]] double iteration_steps(const Scenario& scenario);

}  // namespace foredraft::answers
