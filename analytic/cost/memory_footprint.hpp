// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What speculation keeps in memory beyond plain decoding: the drafter's weights, its encoder's output and the largest
/// intermediate of a block. Sizes are in bytes of `element_bytes` (4: single precision, 2: half) per number; every
/// count is >= 1.
namespace foredraft::analytic {

/// Output of the drafter's encoder: batch x length x width numbers.
[[nodiscard]] double encoder_output_bytes(std::int64_t batch, std::int64_t length, std::int64_t width,
                                          std::int64_t element_bytes);

/// Logits of a block: batch x block x vocabulary numbers. An upper bound of what a block adds to the peak, which
/// another intermediate may hold at another time.
[[nodiscard]] double block_logits_bytes(std::int64_t batch, std::int64_t block, std::int64_t vocabulary,
                                        std::int64_t element_bytes);

/// Attention weights of one layer: batch x heads x length x length numbers. The largest intermediate of long inputs,
/// and the same with speculation and without.
[[nodiscard]] double attention_weights_bytes(std::int64_t batch, std::int64_t heads, std::int64_t length,
                                             std::int64_t element_bytes);

/// Keys and values of one model: 2 x batch x layers x length x width numbers. `length` includes the drafted tokens.
[[nodiscard]] double key_value_cache_bytes(std::int64_t batch, std::int64_t layers, std::int64_t length,
                                           std::int64_t width, std::int64_t element_bytes);

/// How a verification call is built, in the order of the columns of [Wagner2024, Table 1]: from tensor operations; by
/// one kernel that writes every ratio and every residual; by the same kernel on logits, without a softmax.
enum class VerificationVariant { baseline, exact, sigmoid };

/// Rows of the vocabulary's length that one call for one sequence reads: gamma + 1 of the target's logits and gamma of
/// the drafter's. gamma >= 1.
[[nodiscard]] std::int64_t verification_logit_rows(std::int64_t gamma);

/// The same rows and those that the call has allocated when it holds the most: where it draws the corrected token of a
/// rejected draft. Counted from the tensors of the code of [Wagner2024]; the few numbers that a position takes besides
/// are left out. In bytes: block_logits_bytes(1, rows, vocabulary, element_bytes).
[[nodiscard]] std::int64_t verification_peak_rows(VerificationVariant variant, std::int64_t gamma);

/// Peak of a model whose intermediates grow linearly with the batch, in one unit of any name.
struct PeakMemory {
  double weights;  ///< >= 0
  double fixed;    ///< beyond the weights at batch 0
  double per_row;  ///< for each sequence of the batch
};

/// weights + fixed + batch * per_row.
[[nodiscard]] double peak_memory(const PeakMemory& memory, std::int64_t batch);

/// The law through two measured peaks. Throws DomainError for equal batches.
[[nodiscard]] PeakMemory peak_memory_through(double weights, std::int64_t batch_a, double peak_a, std::int64_t batch_b,
                                             double peak_b);

}  // namespace foredraft::analytic
