// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu_bench/cpu/thread_team.hpp"
#include "gpu_bench/cpu/vector_kernels.hpp"
#include "gpu_bench/verify/verification.hpp"

namespace foredraft::gpu_bench {

/// Exact verification on the CPU by all threads of a team: rejection sampling with the decisions of
/// verify/reference.hpp, in fp32. With gamma 0 it samples a token from each row of the target, as in autoregressive
/// decoding and in drafting.
///
/// Every row of a request's drafts is read, also those after the first rejected one, so that the time hardly depends on
/// the number of accepted drafts and `faults` covers all of them. Rows are read in chunks, (2 gamma + 1) V floats per
/// request; the two rows of a rejection are read again, or one chunk if a token is sampled from p. A request's tokens
/// depend only on its logits, its random numbers and the instruction set, not on the number of threads or the rest of
/// the batch.
class CpuVerifier {
 public:
  /// The team must outlive this.
  CpuVerifier(const VerificationShape& shape, ThreadTeam& team);

  /// Verifies an input of this shape. Its members on drafts may be null if gamma is 0, including draft_counts.
  void run(const VerificationInput<float>& input, const VerificationOutput& output);

  /// Bytes used besides inputs and outputs.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct Decision {
    unsigned count;      ///< drafts to verify
    unsigned accepted;   ///< of them
    SoftmaxPart target;  ///< of the row from which a token is sampled
    SoftmaxPart draft;   ///< of the drafter's row there; empty after the last draft
    bool fault;
  };

  // Steps of one thread, with a barrier between them.
  void read_rows(const VerificationInput<float>& input, unsigned thread);
  void decide(const VerificationInput<float>& input, unsigned thread);
  void sum_residuals(const VerificationInput<float>& input, unsigned thread);
  void emit(const VerificationInput<float>& input, const VerificationOutput& output, unsigned thread) const;

  /// Index in parts_ of a row's first chunk.
  [[nodiscard]] std::int64_t first_part(std::int64_t request, std::int64_t row) const {
    return (request * (2 * shape_.gamma + 1) + row) * chunks_;
  }
  [[nodiscard]] SoftmaxPart row_softmax(std::int64_t request, std::int64_t row) const;
  [[nodiscard]] std::int32_t draw(const VerificationInput<float>& input, unsigned request,
                                  const Decision& decision) const;

  VerificationShape shape_;
  ThreadTeam* team_;
  std::int64_t chunks_;                ///< of a row
  std::vector<SoftmaxPart> parts_;     ///< [batch, 2 gamma + 1, chunks]: the target's rows, then the drafter's
  std::vector<Decision> decisions_;    ///< [batch]
  std::vector<WeightsSum> residuals_;  ///< [batch, chunks]: of max(0, p - q), if a draft is rejected
};

}  // namespace foredraft::gpu_bench
