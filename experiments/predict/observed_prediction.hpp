// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "experiments/inputs/observed_acceptance.hpp"

/// What a log's acceptance predicts at every draft length, shown beside an answer that rests on it.
namespace foredraft::experiments {

/// Tokens per iteration with their interval at gamma 1 to 12, and at `asked`.
[[nodiscard]] std::string observed_text(const FittedAcceptance& observed, std::optional<std::int64_t> asked);
[[nodiscard]] nlohmann::ordered_json observed_json(const FittedAcceptance& observed, std::optional<std::int64_t> asked);

}  // namespace foredraft::experiments
