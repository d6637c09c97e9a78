// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Loops with one version per instruction set. They use only raw pointers and integers, because inline library code
/// compiled for one instruction set could be linked into code that runs everywhere.
///
/// Layout of the draws of a block, which is part of the results: iteration i reads, for position k of K, the 16-bit
/// lane i % 8 of the Philox draw of index (i / 8) * K + k; lane 0 is the low half of word 0. The bits are read as a
/// signed number and shifted up by 2^15, because every instruction set compares signed numbers. The trailing 64 bits,
/// needed if the leading ones tie with a threshold, are words 0 (low) and 1 of draw i * K + k of the purpose of ties.
namespace foredraft::sim {

inline constexpr std::uint64_t lanes_per_draw = 8;

/// One block of independent iterations, counted position by position.
struct CountingTask {
  std::uint32_t key[2];
  std::uint32_t counter[4];      ///< of draw 0
  std::uint32_t tie_counter[4];  ///< of draw 0
  std::uint64_t iterations;
  std::uint64_t positions;
  const std::uint32_t* high;  ///< [positions] thresholds, leading bits
  const std::uint64_t* low;   ///< [positions] thresholds, trailing bits
  std::uint64_t* survivors;   ///< [positions] incremented: iterations that accept this position and all before it
};

struct Kernels {
  /// One draw per iteration (K = 1) against survival thresholds, which must not increase with the position.
  void (*count_survivors)(const CountingTask& task);

  /// One draw per drafted token (K = positions) against the acceptance threshold of its position.
  void (*count_bernoulli)(const CountingTask& task);

  /// words[4 j + w] = word w of draw `first` + j, for `draws` of them, a multiple of 64.
  void (*fill_draws)(const std::uint32_t* key, const std::uint32_t* counter, std::uint64_t first, std::uint64_t draws,
                     std::uint32_t* words);
};

/// The scalar loops: the reference that every other version must reproduce exactly.
[[nodiscard]] Kernels scalar_kernels();

/// Counts the positions at which an iteration with these leading bits ties with a threshold and survives.
void count_tied_survivor(const CountingTask& task, std::uint64_t iteration, std::uint32_t leading);

/// True if a draft whose leading bits equal the threshold of its position is accepted.
bool accept_tie(const CountingTask& task, std::uint64_t iteration, std::uint64_t position);

/// Vector versions in this build, as bits of Highway's targets.
std::int64_t simd_targets_built();

/// The versions that this machine supports.
std::int64_t simd_targets_supported();

/// Highway's name of a target.
const char* simd_target_name(std::int64_t target);

/// The version for one supported target. Not thread-safe: it sets Highway's global choice.
Kernels simd_kernels(std::int64_t target);

/// Makes Highway's dispatch in all files choose this target; 0: no vectors.
void restrict_simd_target(std::int64_t target);

// ---- Selection of the version of the counting loops. All versions give the same integers and differ only in speed.

/// The instruction sets that build and machine support, fastest first: on x86 `avx512`, `avx2`, `sse4`, `ssse3`,
/// `emu128` (Highway's portable vectors), elsewhere Highway's names in lower case; always ends with `scalar`.
[[nodiscard]] std::vector<std::string> instruction_sets();

/// The instruction set in use: the fastest until one is selected.
[[nodiscard]] std::string_view instruction_set();

/// Selects an instruction set by name, for all code that Highway dispatches; call it before any other thread runs.
/// Throws DomainError for a name that this build does not know and for a set that this machine lacks.
void select_instruction_set(std::string_view name);

/// Selects the instruction set named by the environment variable FOREDRAFT_ISA, if it is set and not empty. Call at the
/// start of a program. The only function that reads this variable.
void select_instruction_set_from_environment();

/// The loops of the instruction set in use.
[[nodiscard]] const Kernels& kernels();

}  // namespace foredraft::sim
