// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "answers/load_prediction.hpp"
#include "core/digest.hpp"
#include "experiments/results/manifest.hpp"

/// What `predict --out` leaves of a load: the answer, and the data of its figures.
namespace foredraft::app {

inline constexpr std::string_view load_schema = "foredraft.load_prediction/1";

/// Of the question and of the files that it was read from, the times first; `valid` as in folder_kind().
[[nodiscard]] experiments::ResultFolder::Kind load_folder_kind(const answers::LoadQuestion& question,
                                                               std::span<const FileDigest> files, bool valid);

/// Writes load.txt and load.json as they are printed, load-lengths.csv (every number by draft length), load-time.csv
/// (where the time of a token goes) and load-curves.csv: the same server at the loads of `curve` and
/// at its own.
void write_load(experiments::ResultFolder& folder, const answers::LoadPrediction& prediction,
                std::span<const answers::LoadPrediction> curve);

}  // namespace foredraft::app
