// SPDX-License-Identifier: Apache-2.0
#include "sim/tally.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "core/check.hpp"

namespace foredraft::sim {
namespace {

constexpr unsigned kept_bits = 7;  // bits of a duration after its leading one
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

namespace {

void add_counts(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  if (to.size() < from.size()) to.resize(from.size(), 0);
  std::transform(from.begin(), from.end(), to.begin(), to.begin(), std::plus<>{});
}

Int128 total(const std::vector<std::uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Int128{0},
                         [](Int128 sum, std::uint64_t count) { return sum + static_cast<Int128>(count); });
}

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace

void Tally::merge(const Tally& other) {
  units.merge(other.units);
  add_counts(tokens_count, other.tokens_count);
  add_counts(drafted_at, other.drafted_at);
  add_counts(tested_at, other.tested_at);
  add_counts(accepted_at, other.accepted_at);
  serving.merge(other.serving);
}

Tally empty_tally(std::int64_t gamma, Convention convention) {
  const auto positions = static_cast<std::size_t>(gamma);
  Tally tally;
  tally.tokens_count.assign(static_cast<std::size_t>(max_tokens(gamma, convention)), 0);
  tally.drafted_at.assign(positions, 0);
  tally.tested_at.assign(positions, 0);
  tally.accepted_at.assign(positions, 0);
  return tally;
}

void check_conservation(const Tally& tally) {
  const std::size_t positions = tally.drafted_at.size();
  require(tally.tested_at.size() == positions && tally.accepted_at.size() == positions,
          "tally: position counts differ in length");
  for (std::size_t i = 0; i < positions; ++i) {
    require(tally.accepted_at[i] <= tally.tested_at[i], "tally: more drafts accepted than tested at a position");
    require(tally.tested_at[i] <= tally.drafted_at[i], "tally: more drafts tested than drafted at a position");
    require(i == 0 || tally.tested_at[i] <= tally.accepted_at[i - 1],
            "tally: a position was tested although the one before it was not accepted");
  }
  Int128 emitted = 0;
  for (std::size_t k = 0; k < tally.tokens_count.size(); ++k) {
    emitted += static_cast<Int128>(k + 1) * static_cast<Int128>(tally.tokens_count[k]);
  }
  require(emitted == tally.units.sum(tokens), "tally: the token histogram does not add up to the emitted tokens");
  require(total(tally.tokens_count) == tally.units.sum(iterations), "tally: histogram and iterations differ");
  require(total(tally.drafted_at) == tally.units.sum(drafted), "tally: position counts and drafted tokens differ");
  require(total(tally.tested_at) == tally.units.sum(tested), "tally: position counts and tested drafts differ");
  require(total(tally.accepted_at) == tally.units.sum(accepted), "tally: position counts and accepted drafts differ");
  // A sequence that ends inside a draft emits at most as many tokens as drafts accepted before its end, plus one.
  require(emitted <= tally.units.sum(accepted) + tally.units.sum(iterations),
          "tally: an iteration emitted more than its accepted drafts and one token");
}

void ServingTally::merge(const ServingTally& other) {
  latency.merge(other.latency);
  first_token.merge(other.first_token);
  per_token.merge(other.per_token);
  tpot.merge(other.tpot);
  const auto middle = static_cast<std::ptrdiff_t>(replicas.size());
  replicas.insert(replicas.end(), other.replicas.begin(), other.replicas.end());
  std::inplace_merge(replicas.begin(), replicas.begin() + middle, replicas.end(),
                     [](const Replica& one, const Replica& next) { return one.number < next.number; });
}

}  // namespace foredraft::sim
