// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/process/kernels.hpp"

namespace foredraft::sim {
namespace {

/// `counter` is that of draw 0, so the high bits of the index are free in word 3.
PhiloxWords draw(const std::uint32_t* key, const std::uint32_t* counter, std::uint64_t index) {
  return philox4x32_10({static_cast<std::uint32_t>(index), counter[1], counter[2],
                        counter[3] | static_cast<std::uint32_t>(index >> 32U)},
                       {key[0], key[1]});
}

std::uint32_t leading_bits(const PhiloxWords& words, std::uint64_t lane) {
  return (words[lane / 2] >> (16 * (lane % 2)) & 0xffffU) ^ 0x8000U;
}

std::uint64_t trailing_bits(const CountingTask& task, std::uint64_t index) {
  const PhiloxWords words = draw(task.key, task.tie_counter, index);
  return std::uint64_t{words[1]} << 32U | words[0];
}

/// First position whose threshold the leading bits alone do not undercut.
std::uint64_t first_not_above(const CountingTask& task, std::uint32_t leading) {
  const std::uint32_t* end = task.high + task.positions;
  return static_cast<std::uint64_t>(
      std::partition_point(task.high, end, [leading](std::uint32_t high) { return high > leading; }) - task.high);
}

std::uint64_t past_ties(const CountingTask& task, std::uint64_t iteration, std::uint32_t leading,
                        std::uint64_t position) {
  if (position == task.positions || task.high[position] != leading) return position;
  const std::uint64_t trailing = trailing_bits(task, iteration);
  while (position < task.positions && task.high[position] == leading && trailing < task.low[position]) ++position;
  return position;
}

void count_survivors(const CountingTask& task) {
  std::vector<std::uint64_t> ended(task.positions + 1, 0);
  PhiloxWords words{};
  for (std::uint64_t i = 0; i < task.iterations; ++i) {
    if (i % lanes_per_draw == 0) words = draw(task.key, task.counter, i / lanes_per_draw);
    const std::uint32_t leading = leading_bits(words, i % lanes_per_draw);
    ++ended[past_ties(task, i, leading, first_not_above(task, leading))];
  }
  std::uint64_t alive = task.iterations;
  for (std::uint64_t k = 0; k < task.positions; ++k) {
    alive -= ended[k];
    task.survivors[k] += alive;
  }
}

void count_bernoulli(const CountingTask& task) {
  for (std::uint64_t first = 0; first < task.iterations; first += lanes_per_draw) {
    const std::uint64_t lanes = std::min(lanes_per_draw, task.iterations - first);
    unsigned alive = (1U << lanes) - 1U;
    for (std::uint64_t k = 0; k < task.positions && alive != 0; ++k) {
      const PhiloxWords words = draw(task.key, task.counter, first / lanes_per_draw * task.positions + k);
      for (std::uint64_t lane = 0; lane < lanes; ++lane) {
        if ((alive >> lane & 1U) == 0) continue;
        const std::uint32_t leading = leading_bits(words, lane);
        const bool accepted = leading < task.high[k] || (leading == task.high[k] && accept_tie(task, first + lane, k));
        if (accepted) {
          ++task.survivors[k];
        } else {
          alive &= ~(1U << lane);
        }
      }
    }
  }
}

void fill_draws(const std::uint32_t* key, const std::uint32_t* counter, std::uint64_t first, std::uint64_t draws,
                std::uint32_t* words) {
  for (std::uint64_t j = 0; j < draws; ++j) {
    const PhiloxWords drawn = draw(key, counter, first + j);
    std::copy(drawn.begin(), drawn.end(), words + 4 * j);
  }
}

}  // namespace

void count_tied_survivor(const CountingTask& task, std::uint64_t iteration, std::uint32_t leading) {
  const std::uint64_t first = first_not_above(task, leading);
  const std::uint64_t last = past_ties(task, iteration, leading, first);
  for (std::uint64_t k = first; k < last; ++k) ++task.survivors[k];
}

bool accept_tie(const CountingTask& task, std::uint64_t iteration, std::uint64_t position) {
  return trailing_bits(task, iteration * task.positions + position) < task.low[position];
}

Kernels scalar_kernels() {
  return {.count_survivors = count_survivors, .count_bernoulli = count_bernoulli, .fill_draws = fill_draws};
}

}  // namespace foredraft::sim
