// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu_bench/cpu/thread_team.hpp"
#include "gpu_bench/cpu/verify_kernels.hpp"
#include "gpu_bench/verify/online_softmax.hpp"
#include "gpu_bench/verify/verification.hpp"

namespace foredraft::gpu_bench {

/// Exact verification on the CPU, all threads of a team at work: rejection sampling with the decisions of
/// verify/reference.hpp, in fp32. With gamma 0 it draws a token from each row of the target: plain decoding, and what
/// drafting does with its logits.
///
/// Every row of a request's drafts is read, those behind the first rejected one too, so that the time hardly depends on
/// how many drafts are accepted, and `faults` speaks of all of them. Rows are read in chunks, (2 gamma + 1) V floats a
/// request, or (gamma + 1) V where the drafter's log-sum-exps are given; the two rows of a rejection once more, or one
/// chunk where a token is drawn from p. A request's tokens depend on its logits, its draws and the instruction set
/// alone, not on the number of threads or the rest of the batch.
class CpuVerifier {
 public:
  /// The team outlives this.
  CpuVerifier(const VerificationShape& shape, ThreadTeam& team);

  /// An input of this shape. What it says of drafts may be null where gamma is 0, draft_counts included.
  void run(const VerificationInput<float>& input, const VerificationOutput& output);

  /// Taken besides inputs and outputs.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  /// What is known of a request once its rows are read.
  struct Decision {
    unsigned count;      ///< drafts to verify
    unsigned accepted;   ///< of them
    SoftmaxPart target;  ///< of the row that a token is drawn from
    SoftmaxPart draft;   ///< of the drafter's row there; nothing behind the last draft
    bool fault;
  };

  // What one thread does, one after another with a barrier between them.
  void read_rows(const VerificationInput<float>& input, unsigned thread);
  void decide(const VerificationInput<float>& input, unsigned thread);
  void sum_residuals(const VerificationInput<float>& input, unsigned thread);
  void emit(const VerificationInput<float>& input, const VerificationOutput& output, unsigned thread) const;

  [[nodiscard]] SoftmaxPart row_softmax(std::int64_t request, std::int64_t row) const;
  [[nodiscard]] std::int32_t draw(const VerificationInput<float>& input, unsigned request,
                                  const Decision& decision) const;

  VerificationShape shape_;
  ThreadTeam* team_;
  std::int64_t chunks_;                ///< of a row
  std::vector<SoftmaxPart> parts_;     ///< [batch, 2 gamma + 1, chunks]: the target's rows, then the drafter's
  std::vector<Decision> decisions_;    ///< [batch]
  std::vector<WeightsSum> residuals_;  ///< [batch, chunks]: of max(0, p - q), where a draft is rejected
};

}  // namespace foredraft::gpu_bench
