// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "answers/load_prediction.hpp"
#include "answers/load_server.hpp"

namespace foredraft::answers {

/// LoadPrediction::adaptive_gain: the speedup of one budget of verified tokens over the best draft length, at the batch
/// size of that length. Assumes that the drafter knows the acceptance rate of each request, as with calibrated
/// confidences. Under BetaMixture the rates of requests follow its distribution, at quantiles of equal weight.
/// Otherwise all requests are alike, and only a budget that does not fill a whole position of all requests can gain.
/// nullopt if acceptance depends on more than that, under a convention without a bonus token, for engines that verify
/// request by request, for more than 512 requests, and if there is no answer at this load.
[[nodiscard]] std::optional<double> adaptive_gain(const LoadPrediction& prediction, const LoadServers& servers);

}  // namespace foredraft::answers
