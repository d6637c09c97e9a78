// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "answers/load_prediction.hpp"
#include "core/digest.hpp"
#include "experiments/results/manifest.hpp"

/// The folder of `predict --out` for a load: the answer, and the data of its figures.
namespace foredraft::app {

inline constexpr std::string_view load_schema = "foredraft.load_prediction/1";

/// `files`: those that were read, the times first. `valid`: as in folder_kind().
[[nodiscard]] experiments::ResultFolder::Kind load_folder_kind(const answers::LoadQuestion& question,
                                                               std::span<const FileDigest> files, bool valid);

/// Writes load.txt and load.json as printed, load-lengths.csv (all numbers by draft length), load-time.csv (the parts
/// of the time per token) and load-curves.csv (the same server at the loads of `curve` and at its own).
void write_load(experiments::ResultFolder& folder, const answers::LoadPrediction& prediction,
                std::span<const answers::LoadPrediction> curve);

}  // namespace foredraft::app
