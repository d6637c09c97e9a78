// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "foredraft/scenario.hpp"

/// What `foredraft predict` answers where drafts differ in length: under a gamma policy, or of a copying drafter.
namespace foredraft::experiments {

/// The closed form of a point of process fidelity that knows its cost: the answer first, then a table, then what it
/// rests on.
[[nodiscard]] std::string varying_prediction_text(const Scenario& scenario);

/// Schema foredraft.predict/1, with `policy` and `mean_gamma`; `gamma` is the longest draft, `best_gamma` the best
/// constant one.
[[nodiscard]] nlohmann::ordered_json varying_prediction_json(const Scenario& scenario);

}  // namespace foredraft::experiments
