// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/few_tokens.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <vector>

#include "latency/profile/measurement.hpp"
#include "latency/surfaces/step_model.hpp"

namespace foredraft::latency {
namespace {

constexpr std::int64_t max_few_tokens = 8;
constexpr std::size_t min_counts = 3;
constexpr double min_context_share = 0.05;

/// By context, then by tokens.
using TimesByContext = std::map<std::int64_t, std::map<std::int64_t, double>>;

TimesByContext by_context_of(std::span<const PassTime> times) {
  TimesByContext found;
  for (const PassTime& time : times) {
    if (time.tokens <= max_few_tokens) found[time.context][time.tokens] = time.us;
  }
  return found;
}

struct PowerPoint {
  double tokens, us;  ///< both to the power of the sharpness
};

/// The slope of a line fitted to times with equal relative errors; 0 if they decrease. `left_out`: index of a time to
/// leave out, or the size for none.
double slope(const std::vector<PowerPoint>& points, std::size_t left_out) {
  double weights = 0.0, mean_tokens = 0.0, mean_us = 0.0;
  const auto weighted = [&](const auto& add) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i != left_out) add(points[i], 1.0 / (points[i].us * points[i].us));
    }
  };
  weighted([&](const PowerPoint& point, double weight) {
    weights += weight;
    mean_tokens += weight * point.tokens;
    mean_us += weight * point.us;
  });
  mean_tokens /= weights;
  mean_us /= weights;
  double shared = 0.0, spread = 0.0;
  weighted([&](const PowerPoint& point, double weight) {
    shared += weight * (point.tokens - mean_tokens) * (point.us - mean_us);
    spread += weight * (point.tokens - mean_tokens) * (point.tokens - mean_tokens);
  });
  return std::max(0.0, shared / spread);
}

}  // namespace

std::optional<FewTokensFit> computing_us_per_token(std::span<const PassTime> times) {
  const TimesByContext by_context = by_context_of(times);
  const auto place =
      std::ranges::find_if(by_context, [](const auto& context) { return context.second.size() >= min_counts; });
  if (place == by_context.end()) return std::nullopt;
  const double sharpness = attainable_of(DevicePeaks{}).sharpness.value;
  std::vector<PowerPoint> points;
  for (const auto& [tokens, us] : place->second) {
    points.push_back({std::pow(static_cast<double>(tokens), sharpness), std::pow(us, sharpness)});
  }
  const auto computing_us = [&](std::size_t left_out) { return std::pow(slope(points, left_out), 1.0 / sharpness); };
  FewTokensFit fit{.value = computing_us(points.size())};
  fit.range = {fit.value, fit.value};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double without = computing_us(i);
    fit.range = {std::min(fit.range.low, without), std::max(fit.range.high, without)};
  }
  return fit.range.low > 0.0 ? std::optional(fit) : std::nullopt;
}

std::optional<FewTokensFit> kv_reread(std::span<const PassTime> times) {
  const TimesByContext by_context = by_context_of(times);
  std::vector<double> found;
  for (auto shorter = by_context.begin(); shorter != by_context.end(); ++shorter) {
    const auto first = shorter->second.find(1);
    if (first == shorter->second.end()) continue;
    for (auto longer = std::next(shorter); longer != by_context.end(); ++longer) {
      const auto later = longer->second.find(1);
      if (later == longer->second.end()) continue;
      const double once_us = later->second - first->second;
      if (once_us < min_context_share * first->second) continue;
      for (const auto& [tokens, us] : longer->second) {
        const auto base = shorter->second.find(tokens);
        if (tokens == 1 || base == shorter->second.end()) continue;
        found.push_back(((us - base->second) / once_us - 1.0) / static_cast<double>(tokens - 1));
      }
    }
  }
  if (found.empty()) return std::nullopt;
  std::ranges::sort(found);
  return FewTokensFit{.value = percentile(found, 0.5), .range = {found.front(), found.back()}};
}

}  // namespace foredraft::latency
