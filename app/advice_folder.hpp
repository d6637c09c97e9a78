// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/advice.hpp"
#include "experiments/results/manifest.hpp"

/// The output folder of `advise --out`: the advice as JSON and text, and its numbers as tables.
namespace foredraft::app {

/// The kind of the folder, with the digests of the logs.
[[nodiscard]] experiments::ResultFolder::Kind advice_kind(const answers::AdviceQuestion& question);

/// loads.csv, and strata.csv, marginal.csv, acceptance-length.csv, speedup-chain.csv and speedup-by-load.csv if they
/// have rows: pairs of a name and a text.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> advice_tables(const answers::Advice& advice);

/// Writes advice.json, advice.txt and the tables.
void write_advice(experiments::ResultFolder& folder, const answers::Advice& advice, std::string_view settings,
                  std::string_view engine_version);

}  // namespace foredraft::app
