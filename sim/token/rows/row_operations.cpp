// SPDX-License-Identifier: Apache-2.0
#include "sim/token/rows/row_operations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include "core/check.hpp"
#include "foredraft/models.hpp"

namespace foredraft::sim {
namespace {

constexpr std::uint64_t slot_mass = std::uint64_t{1} << share_bits;

/// The distribution in units of 1 / (V * 2^46), summing exactly to V * 2^46. The rounding remainder, at most V / 2
/// units and the round-off of the largest entry, is added to the largest entry, where it matters least.
std::vector<std::uint64_t> integer_masses(std::span<const double> distribution) {
  const std::uint64_t total = slot_mass * distribution.size();
  const long double sum = std::accumulate(distribution.begin(), distribution.end(), 0.0L);
  const long double scale = static_cast<long double>(total) / sum;
  std::vector<std::uint64_t> masses(distribution.size());
  std::uint64_t placed = 0;
  for (std::size_t x = 0; x < distribution.size(); ++x) {
    masses[x] = static_cast<std::uint64_t>(static_cast<long double>(distribution[x]) * scale + 0.5L);
    placed += masses[x];
  }
  *std::max_element(masses.begin(), masses.end()) += total - placed;  // modulo 2^64: the difference may be negative
  return masses;
}

}  // namespace

std::vector<AliasSlot> alias_table(std::span<const double> distribution) {
  FOREDRAFT_EXPECT(!distribution.empty() && distribution.size() <= static_cast<std::size_t>(max_vocabulary));
  std::vector<std::uint64_t> masses = integer_masses(distribution);
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::uint32_t x = 0; x < masses.size(); ++x) (masses[x] < slot_mass ? small : large).push_back(x);

  std::vector<AliasSlot> table(masses.size());
  const auto fill = [&table](std::uint32_t x, std::uint64_t share, std::uint32_t alias) {
    table[x] = share << alias_bits | alias;
  };
  while (!small.empty()) {
    // Integer masses sum to V full slots, so a slot that is not full implies one that is more than full.
    FOREDRAFT_EXPECT(!large.empty());
    const std::uint32_t poor = small.back();
    const std::uint32_t rich = large.back();
    small.pop_back();
    fill(poor, masses[poor], rich);
    masses[rich] -= slot_mass - masses[poor];
    if (masses[rich] < slot_mass) {
      large.pop_back();
      small.push_back(rich);
    }
  }
  for (const std::uint32_t x : large) fill(x, 0, x);  // exactly full: its own alias
  return table;
}

namespace {

constexpr std::size_t lanes = 8;

/// Sum of term(i), i < size, over eight interleaved partial sums.
template <class Term>
double lane_sum(std::size_t size, const Term& term) {
  std::array<double, lanes> partial{};
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) partial[lane] += term(i + lane);
  }
  for (std::size_t lane = 0; i < size; ++i, ++lane) partial[lane] += term(i);
  return ((partial[0] + partial[1]) + (partial[2] + partial[3])) +
         ((partial[4] + partial[5]) + (partial[6] + partial[7]));
}

}  // namespace

double row_sum(std::span<const double> row) {
  return lane_sum(row.size(), [row](std::size_t i) { return row[i]; });
}

std::size_t row_argmax(std::span<const double> row) {
  FOREDRAFT_EXPECT(!row.empty());
  return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

void write_point_mass(std::size_t index, std::span<double> row) {
  std::fill(row.begin(), row.end(), 0.0);
  row[index] = 1.0;
}

bool normalize(std::span<double> row) {
  const double sum = row_sum(row);
  if (!(sum > 0.0)) return false;
  for (double& entry : row) entry /= sum;
  return true;
}

void softmax(std::span<const double> logits, double temperature, std::span<double> distribution) {
  FOREDRAFT_EXPECT(logits.size() == distribution.size() && temperature >= 0.0);
  const std::size_t top = row_argmax(logits);
  if (temperature == 0.0) {
    write_point_mass(top, distribution);
    return;
  }
  const double largest = logits[top];
  for (std::size_t x = 0; x < distribution.size(); ++x) distribution[x] = std::exp((logits[x] - largest) / temperature);
  normalize(distribution);
}

void apply_temperature(std::span<double> distribution, double temperature) {
  FOREDRAFT_EXPECT(temperature >= 0.0);
  if (temperature == 1.0) return;
  const std::size_t top = row_argmax(distribution);
  if (temperature == 0.0) {
    write_point_mass(top, distribution);
    return;
  }
  const double largest = std::log(distribution[top]);
  for (double& probability : distribution) {
    probability = probability > 0.0 ? std::exp((std::log(probability) - largest) / temperature) : 0.0;
  }
  normalize(distribution);
}

template <class Real>
bool truncate_row(std::span<Real> row, const Truncation& truncation) {
  const bool by_rank = truncation.top_k > 0 && truncation.top_k < std::ssize(row);
  if (!by_rank && !(truncation.top_p < 1.0)) return false;
  std::vector<Real> sorted(row.begin(), row.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  Real least{0};  // probability of the last token that is kept
  if (by_rank) least = sorted[static_cast<std::size_t>(truncation.top_k) - 1];
  if (truncation.top_p < 1.0) {
    const auto end = std::partition_point(sorted.begin(), sorted.end(), [least](Real entry) { return entry >= least; });
    const double wanted = truncation.top_p * std::accumulate(sorted.begin(), end, 0.0);
    double sum = 0.0;
    for (auto entry = sorted.begin(); entry != end && sum < wanted; ++entry) {
      least = *entry;
      sum += static_cast<double>(*entry);
    }
  }
  for (Real& entry : row) {
    if (entry < least) entry = Real{0};
  }
  return true;
}

void apply_sampling(std::span<double> distribution, const Sampling& sampling) {
  apply_temperature(distribution, sampling.temperature);
  if (truncate_row(distribution, sampling.truncation)) normalize(distribution);
}

double row_entropy(std::span<const double> distribution) {
  double entropy = 0.0;
  for (const double p : distribution) entropy -= p > 0.0 ? p * std::log(p) : 0.0;
  return entropy;
}

double overlap(std::span<const double> p, std::span<const double> q) {
  FOREDRAFT_EXPECT(p.size() == q.size());
  return 1.0 - 0.5 * lane_sum(p.size(), [p, q](std::size_t i) { return std::abs(p[i] - q[i]); });
}

template <class Real>
void sum_row_blocks(std::span<const Real> row, std::span<double> block_sums) {
  FOREDRAFT_EXPECT(block_sums.size() == sum_blocks(row.size()));
  for (std::size_t b = 0; b < block_sums.size(); ++b) {
    const std::span block = row.subspan(b * sum_block, std::min(sum_block, row.size() - b * sum_block));
    block_sums[b] = lane_sum(block.size(), [block](std::size_t i) { return static_cast<double>(block[i]); });
  }
}

template <class Real>
std::size_t draw_by_inversion(std::span<const Real> weights, std::span<const double> block_sums, double total,
                              double u) {
  double rest = u * total;
  std::size_t block = 0;
  while (block + 1 < block_sums.size() && rest >= block_sums[block]) rest -= block_sums[block++];
  // Round-off can move `rest` past the end of its block, so continue the search, and fall back to the last entry with a
  // weight.
  std::size_t last = weights.size();
  for (std::size_t x = block * sum_block; x < weights.size(); ++x) {
    if (!(weights[x] > Real{0})) continue;
    last = x;
    rest -= static_cast<double>(weights[x]);
    if (rest < 0.0) return x;
  }
  if (last == weights.size()) {  // the blocks after the start are empty, so look before it
    while (last > 0 && !(weights[last - 1] > Real{0})) --last;
    FOREDRAFT_EXPECT(last > 0);
    --last;
  }
  return last;
}

std::int32_t draw_token(std::span<const double> distribution, RandomStream& random) {
  std::vector<double> sums(sum_blocks(distribution.size()));
  sum_row_blocks(distribution, std::span(sums));
  return static_cast<std::int32_t>(
      draw_by_inversion(distribution, std::span<const double>(sums), row_sum(sums), random.uniform()));
}

template bool truncate_row<float>(std::span<float>, const Truncation&);
template bool truncate_row<double>(std::span<double>, const Truncation&);
template void sum_row_blocks<float>(std::span<const float>, std::span<double>);
template void sum_row_blocks<double>(std::span<const double>, std::span<double>);
template std::size_t draw_by_inversion<float>(std::span<const float>, std::span<const double>, double, double);
template std::size_t draw_by_inversion<double>(std::span<const double>, std::span<const double>, double, double);

}  // namespace foredraft::sim
