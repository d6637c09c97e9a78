// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/run_sweep.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "core/problems.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "experiments/config/sweep_config.hpp"
#include "experiments/results/manifest.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/sweep/summary.hpp"
#include "experiments/sweep/sweep_folder.hpp"

namespace foredraft::experiments {

namespace {

/// The first warnings of a sweep and the number of others. Thread-safe.
class Warnings {
 public:
  void add(std::string warning) {
    const std::lock_guard lock(mutex_);
    if (first_.size() < most) first_.push_back(std::move(warning));
    ++count_;
  }
  void tell() const {
    for (const std::string& warning : first_) say("warning: {}", warning);
    if (count_ > first_.size()) say("warning: {} more points have this problem", count_ - first_.size());
  }

 private:
  static constexpr std::size_t most = 5;
  std::mutex mutex_;
  std::vector<std::string> first_;
  std::size_t count_ = 0;
};

}  // namespace

SweepOutcome run_sweep(const SweepConfig& config, const std::string& folder, const SweepOptions& options, bool talk) {
  const Sweep sweep = sweep_of(config);
  const PointRange range = range_of(sweep.points.count(), options.shard);
  const std::uint64_t points = range.last - range.first;
  const StopToken stop = options.stop;
  const auto phase = [&](const char* name, const auto& work) { talk ? in_phase(name, work) : work(); };
  inputs::Inputs inputs(config.folder);
  phase("reading inputs", [&] { read_inputs(sweep, inputs); });
  if (talk) {
    for (const std::string& note : inputs.notes()) say("note: {}", note);
  }
  Manifest manifest = new_manifest(config, options.shard, inputs.files(), options.command_line, options.threads);
  WriteLock lock = WriteLock::of_folder(folder);
  auto before = claim_folder(folder, manifest);
  const bool complete = before && before->state == "complete";
  if (complete && before->figures == manifest.figures) return {{points, points, true}, false, std::move(lock)};
  Warnings warnings;
  const auto run_rest = [&](AppendFile& file, std::uint64_t finished) {
    if (talk) say_plan(sweep, range, finished, options.threads, inputs, stop);
    std::optional<Progress> progress;
    if (talk) progress.emplace("points", static_cast<double>(points), static_cast<double>(finished));
    run_points(sweep, {range.first + finished, range.last}, options.threads, inputs,
               {.write = [&](std::string_view rows, std::uint64_t /*points*/) { file.append(rows); },
                .progress =
                    [&](double count) {
                      if (progress) progress->show(count);
                      if (options.progress) options.progress({static_cast<double>(finished) + count, points});
                    },
                .warn = [&](std::string warning) { warnings.add(std::move(warning)); },
                .stop = stop});
  };
  std::uint64_t resumed = points;
  if (complete) {  // keep the points, write the figures again
    remove_drawings(before->config.figures, folder);
    before->figures = manifest.figures;
  } else {
    resumed = extend_points(folder, sweep, range, manifest, run_rest);
  }
  if (talk) warnings.tell();
  phase("summary and figure data", [&] { complete_folder(folder, sweep, complete ? *before : manifest); });
  return {{points, resumed, complete}, true, std::move(lock)};
}

// ---- Merging the shards of a sweep.

namespace {

constexpr std::uint64_t every_byte = std::numeric_limits<std::uint64_t>::max();

/// Data of a shard's folder; small, because there may be tens of thousands.
struct Part {
  std::string folder;
  Shard shard;
};

/// True if points.csv has exactly the rows of the shard with their inputs.
bool holds_the_rows(const std::string& folder, const StoredManifest& manifest) {
  const PointRange range = range_of(manifest.points, manifest.shard);
  try {
    const FinishedPart rows = finished_part(points_path(folder), sweep_of(manifest.config), range);
    return rows.points == range.last - range.first && rows.bytes == ResultReader(points_path(folder)).size();
  } catch (const InputError&) {
    return false;
  }
}

void check_part(const std::string& folder, const StoredManifest& manifest, const Manifest& first,
                ProblemList& problems) {
  const auto reject = [&](std::string text, std::string why, std::string suggestion = {}) {
    problems.add({0, folder, std::move(text), std::move(why), std::move(suggestion)});
  };
  if (manifest.state != "complete")
    reject("not complete", "its run was interrupted", "run its shard again, it resumes");
  if (!manifest.shard) reject("no shard", "it holds the whole sweep");
  if (manifest.hash != first.hash) reject("another configuration", "its hash differs from that of the first folder");
  if (manifest.version != first.version) reject("another version", "made by version " + manifest.version);
  if (manifest.inputs != first.inputs)
    reject("other input files", "their digests differ from those of the first folder");
  if (manifest.state != "complete" || !manifest.shard) return;
  if (!holds_its_points(folder, manifest)) {
    reject("points.csv was changed or removed", "its SHA-256 differs from the manifest");
  } else if (!holds_the_rows(folder, manifest)) {
    reject("points.csv has other rows than its configuration", "a point is missing, damaged or extra",
           "run its shard again, into another folder");
  }
}

/// The problem of missing shards: the first twenty ranges, and the number of others.
std::optional<Problem> missing_shards(const std::vector<int>& seen) {
  constexpr int max_ranges = 20;
  const auto missing = static_cast<std::uint64_t>(std::ranges::count(seen, 0));
  if (missing == 0) return std::nullopt;
  std::string list;
  std::uint64_t named = 0;
  auto first = std::ranges::find(seen, 0);
  for (int range = 0; range < max_ranges && first != seen.end(); ++range) {
    const auto end = std::find_if(first, seen.end(), [](int times) { return times != 0; });
    const auto from = static_cast<std::uint64_t>(first - seen.begin()) + 1;
    const auto to = static_cast<std::uint64_t>(end - seen.begin());
    list += fmt::format("{}{}", list.empty() ? "" : ", ", from);
    if (to > from) list += fmt::format("{}{}", to == from + 1 ? ", " : " to ", to);
    named += to - from + 1;
    first = std::find(end, seen.end(), 0);
  }
  if (missing == 1)
    return Problem{0, "", fmt::format("shard {}/{} is missing", list, seen.size()), "", "run it, then merge"};
  if (named < missing) list += fmt::format(" and {} more", missing - named);
  return Problem{0, "", fmt::format("{} of {} shards are missing: {}", missing, seen.size(), list), "",
                 "run them, then merge"};
}

/// Reads all shards of one sweep, in order. Throws InputError, which lists all problems.
std::vector<Part> read_parts(const std::vector<std::string>& folders, const Manifest& first) {
  std::vector<Part> parts;
  ProblemList problems("foredraft merge");
  for (const std::string& folder : folders) {
    const StoredManifest manifest = read_manifest(folder);
    check_part(folder, manifest, first, problems);
    if (manifest.shard) parts.push_back({folder, *manifest.shard});
  }
  problems.raise();
  std::ranges::sort(parts, {}, [](const Part& part) { return part.shard.index; });
  const std::uint64_t count = parts.front().shard.count;
  std::vector<int> seen(count, 0);
  for (const Part& part : parts) {
    if (part.shard.count != count) {
      problems.add({0, part.folder, fmt::format("one of {} shards", part.shard.count),
                    fmt::format("the others are of {}", count)});
    } else if (++seen[part.shard.index - 1] == 2) {
      problems.add({0, part.folder, fmt::format("shard {}/{} given twice", part.shard.index, count)});
    }
  }
  if (auto missing = missing_shards(seen)) problems.add(std::move(*missing));
  problems.raise();
  return parts;
}

/// Reads the rows of all shards in order, without headers.
class ShardRows {
 public:
  ShardRows(const std::vector<Part>& parts, std::size_t header_bytes) : parts_(parts), header_bytes_(header_bytes) {}

  /// The next bytes, at most `max_bytes`; empty after the last row.
  std::string_view next(std::uint64_t max_bytes) {
    while (true) {
      const std::string_view piece = file_ ? file_->read(max_bytes) : std::string_view{};
      if (!piece.empty() || max_bytes == 0 || opened_ == parts_.size()) return piece;
      file_.emplace(points_path(parts_[opened_++].folder));
      file_->skip(header_bytes_);
    }
  }

 private:
  const std::vector<Part>& parts_;
  std::size_t header_bytes_;
  std::size_t opened_ = 0;  ///< parts
  std::optional<ResultReader> file_;
};

/// Appends the missing rows to an unfinished folder. Its existing rows must be a prefix of `rows`.
void append_missing_rows(const std::string& folder, const std::string& header, ShardRows rows, AppendFile& merged,
                         StopToken stop) {
  ResultReader there(points_path(folder));
  there.skip(header.size());
  for (std::string_view held = there.read(); !held.empty(); held = there.read()) {
    while (!held.empty()) {
      const std::string_view wanted = rows.next(held.size());
      if (wanted.empty() || !held.starts_with(wanted)) {
        throw InputError(fmt::format("{}: holds other rows than the shards - use another --out", points_path(folder)));
      }
      held.remove_prefix(wanted.size());
    }
  }
  for (std::string_view more = rows.next(every_byte); !more.empty(); more = rows.next(every_byte)) {
    stop.check();
    merged.append(more);
  }
}

}  // namespace

MergedSweep merge_shards(const std::vector<std::string>& shards, const std::string& folder,
                         const std::vector<std::string>& command_line, StopToken stop) {
  const StoredManifest first = read_manifest(shards.front());
  const std::vector<Part> parts = read_parts(shards, first);
  const Sweep sweep = sweep_of(first.config);
  Manifest manifest = new_manifest(first.config, std::nullopt, first.inputs, command_line, 1);
  WriteLock lock = WriteLock::of_folder(folder);
  const auto before = claim_folder(folder, manifest);
  const bool complete = before && before->state == "complete";
  if (!complete) {
    const PointRange all = range_of(sweep.points.count(), std::nullopt);
    extend_points(folder, sweep, all, manifest, [&](AppendFile& merged, std::uint64_t /*finished*/) {
      append_missing_rows(folder, sweep.header, {parts, sweep.header.size()}, merged, stop);
    });
    complete_folder(folder, sweep, manifest);
  }
  return {{sweep.points.count(), complete ? sweep.points.count() : 0, complete}, sweep.figures, std::move(lock)};
}

}  // namespace foredraft::experiments

namespace foredraft {

SweepResult run_sweep(const std::string& config_file, const std::string& folder, const SweepOptions& options) {
  return experiments::run_sweep(experiments::load_sweep_config(config_file), folder, options).result;
}

SweepResult merge_shards(const std::vector<std::string>& shards, const std::string& folder,
                         const SweepOptions& options) {
  if (shards.empty()) throw InputError("merge_shards: no shards");
  return experiments::merge_shards(shards, folder, options.command_line, options.stop).result;
}

}  // namespace foredraft
