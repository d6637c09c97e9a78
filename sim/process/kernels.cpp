// SPDX-License-Identifier: Apache-2.0
#include "sim/process/kernels.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>

#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"

namespace foredraft::sim {
namespace {

struct Version {
  std::string name;
  std::int64_t target;  ///< Highway's target; 0 for the scalar loops
  Kernels kernels;
};

constexpr std::string_view scalar_name = "scalar";

/// Highway's name for AVX-512 is AVX3.
std::string name_of(std::int64_t target) {
  std::string name = simd_target_name(target);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.starts_with("avx3") ? "avx512" + name.substr(4) : name;
}

/// Bits of `targets` from the lowest up, which is Highway's order from the fastest down.
std::vector<std::int64_t> split(std::int64_t targets) {
  std::vector<std::int64_t> bits;
  for (; targets != 0; targets &= targets - 1) bits.push_back(targets & -targets);
  return bits;
}

const std::vector<Version>& versions() {
  static const std::vector<Version> found = [] {
    std::vector<Version> list;
    for (const std::int64_t target : split(simd_targets_supported())) {
      list.push_back({name_of(target), target, simd_kernels(target)});
    }
    list.push_back({std::string(scalar_name), 0, scalar_kernels()});
    return list;
  }();
  return found;
}

std::atomic<const Version*>& selected() {
  static std::atomic<const Version*> version{&versions().front()};
  return version;
}

std::string join(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const Version& version : versions()) names.push_back(version.name);
  return names;
}

std::string_view instruction_set() { return selected().load()->name; }

void select_instruction_set(std::string_view name) {
  for (const Version& version : versions()) {
    if (version.name == name) {
      selected() = &version;
      restrict_simd_target(version.target);
      return;
    }
  }
  const std::vector<std::int64_t> built = split(simd_targets_built());
  const bool known =
      std::any_of(built.begin(), built.end(), [&](std::int64_t target) { return name_of(target) == name; });
  throw DomainError(fmt::format("invalid FOREDRAFT_ISA={} (must be one of {}{})", name, join(instruction_sets()),
                                known ? "; this machine lacks it" : ""));
}

void select_instruction_set_from_environment() {
  const char* name = std::getenv("FOREDRAFT_ISA");
  if (name == nullptr || *name == '\0') return;
  select_instruction_set(name);
}

const Kernels& kernels() { return selected().load()->kernels; }

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

/// First position whose threshold does not exceed the leading bits.
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
