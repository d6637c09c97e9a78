// SPDX-License-Identifier: Apache-2.0
#include "sim/system/steady_state.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace foredraft::sim {
namespace {

constexpr double nearly_same = 0.05;
constexpr double certainly_other = 4.0;  // standard errors
constexpr double clearly_other = 0.2;
constexpr std::size_t replicas_to_tell = 4;
/// Minimum measured requests, in multiples of the requests served at once; with fewer, the ends of a window affect its
/// means.
constexpr double long_window = 16.0;
constexpr std::int64_t long_window_requests = 64;
/// Growth of a queue that the ends of a window cannot explain.
constexpr double growing = 1.0 + clearly_other;

/// A mean over time in the two halves of the windows, over all replicas.
struct HalfMeans {
  double first = 0.0, second = 0.0;
  bool differ = false;
};

double mean_of(std::span<const ServingValues> batches, ServingQuantity quantity) {
  double sum = 0.0;
  double time = 0.0;
  for (const ServingValues& batch : batches) {
    sum += static_cast<double>(batch[quantity]);
    time += static_cast<double>(batch[window_ns]);
  }
  return time > 0.0 ? sum / time : 0.0;
}

HalfMeans halves_of(const std::vector<Replica>& replicas, ServingQuantity quantity) {
  HalfMeans halves;
  double squares = 0.0;
  double count = 0.0;
  for (const Replica& replica : replicas) {
    const std::span<const ServingValues> batches = replica.batches;
    if (batches.size() < 2) continue;
    const double first = mean_of(batches.first(batches.size() / 2), quantity);
    const double second = mean_of(batches.last(batches.size() / 2), quantity);
    halves.first += first;
    halves.second += second;
    squares += (second - first) * (second - first);
    ++count;
  }
  if (count == 0.0) return halves;
  halves.first /= count;
  halves.second /= count;
  const double change = halves.second - halves.first;
  const double relative = std::abs(change) / std::max(halves.first, halves.second);
  if (count < static_cast<double>(replicas_to_tell)) {
    halves.differ = relative > clearly_other;
  } else {
    const double error = std::sqrt(std::max(squares / count - change * change, 0.0) / (count - 1.0));
    halves.differ = relative > nearly_same && std::abs(change) > certainly_other * error;
  }
  return halves;
}

}  // namespace

std::string unsteady(const Server& server, const ServingTally& tally) {
  if (tally.replicas.empty()) return {};
  double in_system = 0.0;
  double time = 0.0;
  for (const Replica& replica : tally.replicas) {
    in_system += static_cast<double>(replica.values[in_system_ns]);
    time += static_cast<double>(replica.values[window_ns]);
  }
  if (time == 0.0) return {};
  const double served = std::min(in_system / time, static_cast<double>(server.max_batch));
  const std::int64_t warmup = tally.replicas.front().warmup_requests;
  const std::int64_t measured = tally.replicas.front().values[measured_requests];
  const bool recorded = server.arrivals.kind == ArrivalKind::recorded;
  const bool continuous = server.batching == Batching::continuous;
  if (!recorded && continuous && static_cast<double>(warmup + 1) < 2.0 * served) {
    return fmt::format(
        "a replica warms up with {} requests, and {:.3g} are served at once: the server was not yet in a "
        "steady state - set warmup_requests to {} or more, or leave it out",
        warmup, served, std::llround(std::ceil(4.0 * served)));
  }
  const bool is_long = measured >= long_window_requests && static_cast<double>(measured) >= long_window * served;
  const HalfMeans there = halves_of(tally.replicas, in_system_ns);
  const HalfMeans emitted = halves_of(tally.replicas, window_tokens);
  const bool others_are_there = there.differ && (is_long || there.second > growing * there.first);
  if (!others_are_there && !(is_long && emitted.differ)) return {};
  constexpr double ns_in_s = 1e9;
  const std::string what =
      others_are_there ? fmt::format(
                             "{:.3g} requests are there in the first half of the measured ones and {:.3g} in the "
                             "second",
                             there.first, there.second)
                       : fmt::format(
                             "{:.4g} tokens/s come in the first half of the measured requests and {:.4g} in the "
                             "second",
                             emitted.first * ns_in_s, emitted.second * ns_in_s);
  const std::string_view instead = server.arrivals.kind == ArrivalKind::closed || recorded || there.second < there.first
                                       ? ""
                                       : ", or the rate to one that the server keeps up with";
  return fmt::format("{}: the server was not yet in a steady state - set warmup_requests to {} or more{}", what,
                     2 * (warmup + measured), instead);
}

}  // namespace foredraft::sim
