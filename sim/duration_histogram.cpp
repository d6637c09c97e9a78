// SPDX-License-Identifier: Apache-2.0
#include "sim/duration_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/contract.hpp"

namespace foredraft::sim {
namespace {

constexpr unsigned kept_bits = 7;  // of a duration, behind its leading one
constexpr std::uint64_t per_doubling = std::uint64_t{1} << kept_bits;

std::size_t bucket_of(std::uint64_t duration) {
  if (duration < per_doubling) return duration;
  const auto shift = static_cast<unsigned>(std::bit_width(duration)) - 1 - kept_bits;
  return (shift << kept_bits) + (duration >> shift);
}

std::int64_t middle_of(std::size_t bucket) {
  if (bucket < per_doubling) return static_cast<std::int64_t>(bucket);
  const std::uint64_t shift = (bucket >> kept_bits) - 1;
  const std::uint64_t lowest = (per_doubling + bucket % per_doubling) << shift;
  return static_cast<std::int64_t>(lowest + ((std::uint64_t{1} << shift) - 1) / 2);
}

}  // namespace

void DurationHistogram::add(std::int64_t duration_ns) {
  FOREDRAFT_EXPECT(duration_ns >= 0);
  const std::size_t bucket = bucket_of(static_cast<std::uint64_t>(duration_ns));
  if (bucket >= counts_.size()) counts_.resize(bucket + 1, 0);
  ++counts_[bucket];
  ++count_;
}

void DurationHistogram::merge(const DurationHistogram& other) {
  if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size(), 0);
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
}

std::int64_t DurationHistogram::quantile(double level) const {
  FOREDRAFT_EXPECT(level > 0.0 && level <= 1.0);
  const auto rank = static_cast<std::uint64_t>(std::ceil(level * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (seen >= rank) return middle_of(bucket);
  }
  return 0;
}

}  // namespace foredraft::sim
