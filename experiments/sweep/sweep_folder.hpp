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

/// File names of a complete run's outputs, in the order of the manifest: points.csv, and for a whole sweep summary.md,
/// summary.tex and two files per figure.
[[nodiscard]] std::vector<std::string> output_names(const std::vector<Figure>& figures,
                                                    const std::optional<Shard>& shard);

/// Completes a run after its last point: for a whole sweep writes summary and figure data, then the manifest with all
/// digests and the state "complete".
void complete_folder(const std::string& folder, const Sweep& sweep, Manifest& manifest);

// ---- A results folder: manifest.json, and points.csv, to which whole rows are appended.

[[nodiscard]] std::string manifest_path(const std::string& folder);
[[nodiscard]] std::string points_path(const std::string& folder);

/// Throws InputError unless `folder` is a folder with a manifest.json.
void require_results_folder(const std::string& folder);

/// Reads the manifest of a folder. Throws InputError as require_results_folder() and parse_manifest().
[[nodiscard]] StoredManifest read_manifest(const std::string& folder);

/// The manifest of a folder to be written, or nullopt for an empty folder. The caller holds the WriteLock. To avoid
/// overwriting, throws InputError if the folder has other files, results with another schema, program version,
/// configuration, shard or input files, or a complete run with a changed points.csv.
[[nodiscard]] std::optional<StoredManifest> claim_folder(const std::string& folder, const Manifest& wanted);

/// True if points.csv has the digest of its complete manifest.
[[nodiscard]] bool holds_its_points(const std::string& folder, const Manifest& manifest);

/// The valid prefix of points.csv: the header and complete rows in index order.
struct FinishedPart {
  std::uint64_t bytes;  ///< 0: the header is incomplete
  std::uint64_t points;
};
/// The valid prefix of a file; only an incomplete last line is ignored. Throws InputError for another header and for a
/// row that is not the next of `range` (other index, inputs or number of cells).
[[nodiscard]] FinishedPart finished_part(const std::string& path, const Sweep& sweep, const PointRange& range);

/// Completes points.csv of an unfinished, claimed folder: writes the manifest with the number of existing points,
/// removes an incomplete last line, and calls `append_rest` with that number to append the missing points of `range`.
/// Existing rows are never removed. Returns the number of existing points. Throws InputError if points.csv cannot be
/// extended.
std::uint64_t extend_points(const std::string& folder, const Sweep& sweep, const PointRange& range, Manifest& manifest,
                            const std::function<void(AppendFile& points, std::uint64_t finished)>& append_rest);

}  // namespace foredraft::experiments
