// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "experiments/inputs/observed_acceptance.hpp"
#include "experiments/text/table.hpp"
#include "foredraft/scenario.hpp"

/// What `foredraft predict` answers where the result is known: which alpha, c or overhead explains a measured speedup,
/// which alpha a measured acceptance length.
namespace foredraft::experiments {

enum class Sought { alpha, c, overhead };

/// Of constant drafts of `scenario.gamma` >= 1 tokens. What is sought stands at 0 in the scenario.
struct InverseQuestion {
  Scenario scenario = {};
  Sought sought = Sought::alpha;
  PrintedNumber measured = {};
  bool is_length = false;  ///< `measured` is the acceptance length, which says nothing of costs; else the speedup
};

/// In plain steps of the target where it is c or an overhead.
struct InverseAnswer {
  std::optional<double> value = {};       ///< nothing: none explains the measured number as it is printed
  std::optional<Interval> interval = {};  ///< of the numbers that round to the printed one; nothing: none of them
  double low = 0.0, high = 0.0;           ///< what any alpha in [0, 1], or any cost >= 0, gives
};

/// i.i.d. acceptance for Sought::alpha. Throws DomainError for an acceptance without a closed form, and for the
/// c of a drafter that takes no pass.
[[nodiscard]] InverseAnswer invert(const InverseQuestion& question);

[[nodiscard]] std::string to_text(const InverseQuestion& question);

/// Schema foredraft.predict.inverse/1.
[[nodiscard]] nlohmann::ordered_json to_json(const InverseQuestion& question);

// ---- What `foredraft predict` answers where drafts differ in length: under a gamma policy, or of a copying drafter.

/// The closed form of a point of process fidelity that knows its cost: the answer first, then a table, then what it
/// rests on.
[[nodiscard]] std::string varying_prediction_text(const Scenario& scenario);

/// Schema foredraft.predict/1, with `policy` and `mean_gamma`; `gamma` is the longest draft, `best_gamma` the best
/// constant one.
[[nodiscard]] nlohmann::ordered_json varying_prediction_json(const Scenario& scenario);

// ---- What a log's acceptance predicts at every draft length, shown beside an answer that rests on it.

/// Tokens per iteration with their interval at gamma 1 to 12, and at `asked`.
[[nodiscard]] std::string observed_text(const FittedAcceptance& observed, std::optional<std::int64_t> asked);
[[nodiscard]] nlohmann::ordered_json observed_json(const FittedAcceptance& observed, std::optional<std::int64_t> asked);

}  // namespace foredraft::experiments
