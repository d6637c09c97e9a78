// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "experiments/advise/advice.hpp"
#include "experiments/results/manifest.hpp"

/// What `advise --out` leaves: the advice as JSON and text, and its numbers as tables.
namespace foredraft::experiments {

/// Of the logs: their digests.
[[nodiscard]] ResultFolder::Kind advice_kind(const AdviceQuestion& question);

/// Writes advice.json, advice.txt and loads.csv; where they have a row also strata.csv, marginal.csv,
/// acceptance-length.csv, speedup-chain.csv and speedup-by-load.csv.
void write_advice(ResultFolder& folder, const Advice& advice, std::string_view settings,
                  std::string_view engine_version);

}  // namespace foredraft::experiments
