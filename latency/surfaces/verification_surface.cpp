// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/verification_surface.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <set>

#include "latency/operations/program.hpp"

namespace foredraft::latency {
namespace {

double elements_of(std::int64_t batch, std::int64_t gamma, std::int64_t vocabulary) {
  return static_cast<double>(batch) * static_cast<double>(2 * gamma + 1) * static_cast<double>(vocabulary);
}

/// True if the row's bytes are fewer than those of the target's logits, so fewer drafts were timed than it says. Rows
/// without bytes or of a type with unknown bytes are believed.
bool timed_fewer_drafts(const VerificationRow& row) {
  const VerificationCell& cell = row.cell;
  const auto type = value_of<DataType>(cell.dtype);
  if (!type || row.timing.read_bytes == 0.0) return false;
  const double target_logits =
      static_cast<double>(cell.batch) * static_cast<double>(cell.gamma + 1) * static_cast<double>(cell.vocabulary);
  return row.timing.read_bytes < target_logits * static_cast<double>(bytes_of(*type));
}

}  // namespace

VerificationSurface::Line VerificationSurface::line_of(std::vector<Point> points) {
  std::ranges::stable_sort(points, {}, &Point::elements);
  Line line;
  for (auto first = points.begin(); first != points.end();) {
    const auto end =
        std::find_if(first, points.end(), [&](const Point& point) { return point.elements != first->elements; });
    Point mean{first->elements, 0.0, 0.0};
    for (auto point = first; point != end; ++point) {
      mean.time_us += point->time_us / static_cast<double>(end - first);
      mean.spread = std::max(mean.spread, point->spread);
    }
    line.push_back(mean);
    first = end;
  }
  return line;
}

VerificationSurface::VerificationSurface(const Profile& profile, const Setting& setting, std::int64_t vocabulary)
    : vocabulary_(vocabulary) {
  std::vector<Point> all, draws, verifications;
  for (const VerificationRow& row : profile.verifications) {
    const VerificationCell& cell = row.cell;
    if (cell.verifier != "fused_exact" || cell.logits != "real_like" || row.timing.summary.samples == 0) continue;
    if (setting_of(cell) != Setting{setting.dtype, Cache::hot, setting.launch}) continue;
    if (timed_fewer_drafts(row)) continue;
    const Point point{.elements = elements_of(cell.batch, cell.gamma, cell.vocabulary),
                      .time_us = row.timing.summary.median_us,
                      .spread = spread_of(row, profile)};
    all.push_back(point);
    if (cell.vocabulary != vocabulary) continue;
    (cell.gamma == 0 ? draws : verifications).push_back(point);
    measured_[{cell.batch, cell.gamma}] = {.time_us = point.time_us, .spread = point.spread};
  }
  const Line default_line = line_of(std::move(all));
  const auto line_or_default = [&default_line](std::vector<Point> points) {
    Line line = line_of(std::move(points));
    return line.size() < 2 ? default_line : line;
  };
  draws_ = line_or_default(std::move(draws));
  verifications_ = line_or_default(std::move(verifications));
}

std::optional<Latency> VerificationSurface::at(std::int64_t batch, std::int64_t gamma) const {
  if (const auto found = measured_.find({batch, gamma}); found != measured_.end()) return found->second;
  const Line& line = gamma == 0 ? draws_ : verifications_;
  if (line.size() < 2) return std::nullopt;
  const double elements = elements_of(batch, gamma, vocabulary_);
  auto right = std::ranges::lower_bound(line, elements, {}, &Point::elements);
  right = std::clamp(right, line.begin() + 1, line.end() - 1);
  const Point& a = *(right - 1);
  const Point& b = *right;
  const double way = (elements - a.elements) / (b.elements - a.elements);
  const bool inside = way >= 0.0 && way <= 1.0;
  return Latency{.time_us = std::max(0.0, std::lerp(a.time_us, b.time_us, way)),
                 .spread = inside ? std::lerp(a.spread, b.spread, way) : std::max(a.spread, b.spread),
                 .origin = Origin::interpolated,
                 .inside = inside};
}

std::optional<std::string> ignored_verifications(const Profile& profile) {
  std::set<std::int64_t> gammas;
  const auto ignored = std::ranges::count_if(profile.verifications, [&gammas](const VerificationRow& row) {
    if (!timed_fewer_drafts(row)) return false;
    gammas.insert(row.cell.gamma);
    return true;
  });
  if (ignored == 0) return std::nullopt;
  return fmt::format(
      "{}: {} of {} rows of verifications are ignored, at gamma {}: their read_bytes show that fewer drafts were timed "
      "(an error of foredraft-gpu until November 27, 2026); sampling follows from the other rows - measure again",
      profile.device.name, ignored, profile.verifications.size(), fmt::join(gammas, ", "));
}

}  // namespace foredraft::latency
