// SPDX-License-Identifier: Apache-2.0
#include "sim/system/arrivals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "sim/process/draws.hpp"
#include "sim/uniform_index.hpp"

namespace foredraft::sim {

ArrivalStream::ArrivalStream(const Arrivals& distribution, const RunKey& key, std::uint64_t block,
                             const RequestRecording* recorded)
    : distribution_(distribution),
      recorded_(recorded),
      random_(key.seed, {.purpose = Purpose::arrival, .point = key.point, .block = block}) {
  if (distribution.kind == ArrivalKind::closed) {
    closed_.assign(static_cast<std::size_t>(distribution.clients), 0);
  } else {
    advance();
  }
}

std::int64_t ArrivalStream::next_ns() const {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  if (distribution_.kind == ArrivalKind::closed) return closed_.empty() ? never : closed_.front();
  return open_ns_ < static_cast<double>(never) ? static_cast<std::int64_t>(open_ns_) : never;
}

void ArrivalStream::pop() {
  if (distribution_.kind == ArrivalKind::closed) return closed_.pop_front();
  advance();
}

void ArrivalStream::answered(std::int64_t now_ns) {
  if (distribution_.kind == ArrivalKind::closed) closed_.push_back(now_ns);
}

void ArrivalStream::advance() {
  if (distribution_.kind == ArrivalKind::recorded) {
    const std::uint64_t size = recorded_->requests.size();
    const std::uint64_t repeats = sent_ / size;
    open_ns_ = ns_per_s * (static_cast<double>(repeats) * recording_period_s(*recorded_) +
                           recorded_->requests[sent_ % size].arrival_s);
    ++sent_;
    return;
  }
  const double intervals = distribution_.kind == ArrivalKind::poisson ? -std::log(1.0 - random_.uniform()) : 1.0;
  open_ns_ += intervals * ns_per_s / distribution_.rate_per_s;
}

double recording_period_s(const RequestRecording& recording) {
  const double first_s = recording.requests.front().arrival_s;
  const double last_s = recording.requests.back().arrival_s;
  return last_s + (last_s - first_s) / static_cast<double>(recording.requests.size() - 1);
}

std::int64_t draw_length(const TokenCount& count, RandomStream& random) {
  if (count.geometric) return draw_length(SequenceLength{.tokens = count.tokens, .geometric = true}, random);
  if (count.p95 > 0.0) {
    // ln(p95 / mean) = z sigma - sigma^2 / 2 has two solutions; the smaller sigma is used.
    constexpr double z = 1.6448536269514722;  // 95 % of a normal variate lie below
    const double sigma = z - std::sqrt(std::max(z * z - 2.0 * std::log(count.p95 / count.tokens), 0.0));
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    const double normal = radius * std::cos(2.0 * std::numbers::pi * random.uniform());
    const double tokens = count.tokens * std::exp(sigma * (normal - 0.5 * sigma));
    return std::max<std::int64_t>(std::llround(tokens), 1);
  }
  const auto middle = static_cast<std::int64_t>(count.tokens);
  if (count.spread == 0) return middle;
  const auto lengths = static_cast<std::uint64_t>(2 * count.spread + 1);
  return middle - count.spread + static_cast<std::int64_t>(uniform_index(random.next_u64(), lengths));
}

}  // namespace foredraft::sim
