// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "answers/load_prediction.hpp"
#include "answers/load_server.hpp"

namespace foredraft::answers {

/// LoadPrediction::adaptive_gain: how much faster one budget of verified tokens is than the best draft length, at the
/// batch of that length. The drafter is taken to know each request's chances, as if its confidences were calibrated:
/// under BetaMixture requests differ as that law, in equal parts; else all are alike, and only a layer of drafts that
/// the budget does not fill can gain. Nothing: the acceptance depends on more, or there is no answer at this load.
[[nodiscard]] std::optional<double> adaptive_gain(const LoadPrediction& prediction, const LoadServers& servers);

}  // namespace foredraft::answers
