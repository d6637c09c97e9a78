// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/kernels/storage.hpp"
#include "gpu_bench/verify/fused_exact_kernel.hpp"

/// Rejection sampling [Leviathan2023, Alg. 1] from logits to tokens: this project's verifier.
///
/// The vocabulary is divided into splits. There are two kinds of work units, one block each:
///
///     row unit      (request, row, split)   reads its logits once, leaves their largest and their sum of exponentials
///     choice unit   (request, split)        puts the row units of its request together, accepts and rejects, reads its
///                                           split of the one row that a token is drawn from (of target and drafter),
///                                           leaves sums of max(0, p - q) and of p a chunk of 256 tokens; the last of
///                                           them draws: split, chunk, then a token of the chunk that is read again
///
/// Reads, with g drafts a request and V tokens of s bytes: 2g + 1 rows of V s bytes once, g + 1 if the drafter's
/// log-sum-exps are given; two rows once more, or one if all drafts are accepted; some sums. Writes only sums and the
/// outputs.
/// Target time: that of (2g + 1) V s bytes per request at the device's read bandwidth (lower bound L0); if log-sum-exps
/// are given, of (g + 1) V s bytes, and V s more if a draft is rejected (L1). Latencies are added to it. For a single
/// request: one launch; a ticket and the drafts, then the latency of a row unit; two barriers between blocks in global
/// memory; the latencies of a choice unit, whose rows are in L2; about a hundred dependent additions that draw. For a
/// large batch: a row unit keeps 16 or 32 KiB in flight during its logits' latency, and occupies its place on the
/// multiprocessor also during the latencies of the ticket, the drafts and the barrier. If the vocabulary is not a
/// multiple of 8, rows are unaligned and read element by element.
///
/// One launch: units are handed out by a ticket in a fixed order, and a choice unit waits for row units of its request,
/// which have smaller tickets. Those belong to blocks that already run and do not wait, so there is no deadlock for any
/// number of concurrent blocks, and no cooperative launch is needed. Choice units come some requests after their rows:
/// late enough that these are done, early enough that they are still in L2.
/// Two launches: the same units, rows in the first, choices in the second; no unit waits.
///
/// A request's tokens depend only on its logits and random numbers: splits depend on the vocabulary, sums on splits and
/// the size of blocks. If log-sum-exps are given, `faults` covers the drafter's logits that are read, and the
/// log-sum-exps.
namespace foredraft::gpu_bench {

/// Tokens of a split: at most a chunk for each lane of a warp. 256 threads hold them with 32 logits each.
inline constexpr unsigned fused_exact_split_tokens = warp_lanes * chunk_tokens;

/// Workspace of a call besides its inputs and outputs: a part per split of each row, sums of splits and of chunks.
template <unsigned split_tokens = fused_exact_split_tokens>
[[nodiscard]] WorkspaceSize fused_exact_workspace(const VerificationShape& shape) {
  static_assert(sizeof(SoftmaxPart) == 3 * sizeof(float) && sizeof(WeightSums) == 3 * sizeof(float));
  const std::int64_t splits = (shape.vocabulary + split_tokens - 1) / split_tokens;
  return {.floats = 3 * shape.batch * splits * (2 * shape.gamma + 1 + 1 + split_tokens / chunk_tokens),
          .counters = 1 + 2 * shape.batch};
}

namespace detail {

template <unsigned split_tokens, FusedExactUnits units, class Storage, class Launcher>
void launch_fused_exact(const VerificationInput<Storage>& input, const VerificationOutput& output,
                        const Workspace& memory, Launcher& launcher, unsigned threads) {
  const std::int64_t splits = divide_up(input.vocabulary, split_tokens);
  auto* parts = reinterpret_cast<SoftmaxPart*>(memory.floats);
  auto* split_sums = reinterpret_cast<WeightSums*>(parts + input.batch * (2 * std::int64_t{input.gamma} + 1) * splits);
  const FusedExactWorkspace workspace{.parts = parts,
                                      .split_sums = split_sums,
                                      .chunk_sums = split_sums + input.batch * splits,
                                      .tickets = memory.counters,
                                      .rows_done = memory.counters + 1,
                                      .choices_done = memory.counters + 1 + input.batch};
  if (input.vocabulary % pack_elements == 0) {
    launcher.launch(FusedExactKernel<Storage, pack_elements, split_tokens, units>{input, output, workspace, threads});
  } else {
    launcher.launch(FusedExactKernel<Storage, 1, split_tokens, units>{input, output, workspace, threads});
  }
}

}  // namespace detail

/// Rejection sampling in one launch. `memory`: fused_exact_workspace<split_tokens>(); logits begin at multiples of 16
/// bytes. Tests divide small vocabularies into splits and run small blocks.
template <unsigned split_tokens = fused_exact_split_tokens, class Storage, class Launcher>
void fused_exact(const VerificationInput<Storage>& input, const VerificationOutput& output, const Workspace& memory,
                 Launcher& launcher, unsigned threads = 256) {
  detail::launch_fused_exact<split_tokens, FusedExactUnits::all>(input, output, memory, launcher, threads);
}

/// The same tokens, bit for bit, in two launches.
template <unsigned split_tokens = fused_exact_split_tokens, class Storage, class Launcher>
void fused_exact_two_launches(const VerificationInput<Storage>& input, const VerificationOutput& output,
                              const Workspace& memory, Launcher& launcher, unsigned threads = 256) {
  detail::launch_fused_exact<split_tokens, FusedExactUnits::rows>(input, output, memory, launcher, threads);
  detail::launch_fused_exact<split_tokens, FusedExactUnits::choices>(input, output, memory, launcher, threads);
}

}  // namespace foredraft::gpu_bench
