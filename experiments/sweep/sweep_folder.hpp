// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/sweep/point.hpp"

namespace foredraft::experiments {

/// The outputs of a complete run, by name and in the order of its manifest: points.csv, and for a whole sweep
/// summary.md, summary.tex and two files a figure.
[[nodiscard]] std::vector<std::string> output_names(const std::vector<Figure>& figures,
                                                    const std::optional<Shard>& shard);

/// Ends a run whose points.csv is whole: writes what follows from it (summary and figure data, for a whole sweep), then
/// the manifest with the digest of every file and the state "complete".
void complete_folder(const std::string& folder, const Sweep& sweep, Manifest& manifest);

// ---- A results folder: manifest.json and a points.csv that grows by whole rows.

[[nodiscard]] std::string manifest_path(const std::string& folder);
[[nodiscard]] std::string points_path(const std::string& folder);

/// Throws InputError for anything but a folder with a manifest.json.
void require_results_folder(const std::string& folder);

/// The manifest of a folder. Throws InputError as require_results_folder().
[[nodiscard]] StoredManifest read_manifest(const std::string& folder);

/// The manifest of a folder to write into, whose WriteLock is held; nothing for an empty one. Throws InputError where
/// it holds other files, results that differ in schema, program version, configuration, shard or input files, or a
/// complete run whose points.csv was changed: nothing is overwritten.
[[nodiscard]] std::optional<StoredManifest> claim_folder(const std::string& folder, const Manifest& wanted);

/// Whether points.csv is still the file whose digest its complete manifest gives.
[[nodiscard]] bool holds_its_points(const std::string& folder, const Manifest& manifest);

/// The part of a points.csv that holds: whole rows in index order, from the header on.
struct FinishedPart {
  std::uint64_t bytes;  ///< 0: not even the header
  std::uint64_t points;
};
/// A torn last line, and only that, is left out. Throws InputError on another header and on a row that is not the next
/// of `range`: another index, other inputs or another number of cells.
[[nodiscard]] FinishedPart finished_part(const std::string& path, const Sweep& sweep, const PointRange& range);

/// Appends to the points.csv of an unfinished, claimed folder what it lacks of the points in `range`: writes the
/// manifest with the number of points that are there, drops a torn last line, and calls `append_rest` with that number.
/// No row that is there is ever taken away. Returns the number of points that were there. Throws InputError where
/// points.csv is not a file that may be extended.
std::uint64_t extend_points(const std::string& folder, const Sweep& sweep, const PointRange& range, Manifest& manifest,
                            const std::function<void(AppendFile& points, std::uint64_t finished)>& append_rest);

}  // namespace foredraft::experiments
