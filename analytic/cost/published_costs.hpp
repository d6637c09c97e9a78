// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Time of a sentence under speculation with a parallel ("block") drafter: [Xia2023, Eq. 4] with the costs that it
/// leaves out. All times are >= 0 and finite, in milliseconds; `iterations` may be a mean and is >= 0.
namespace foredraft::analytic {

struct BlockLatency {
  double target_encoder_ms;   ///< once per sentence
  double drafter_encoder_ms;  ///< once per sentence
  double draft_ms;            ///< one drafting pass, for any block size (t_d)
  double verify_ms;           ///< one forward pass of the target over a block (t_v)
  double overhead_ms;         ///< other costs of an iteration
  double fixed_ms;            ///< other costs of a sentence
};

/// t_d + t_v + overhead.
[[nodiscard]] double iteration_ms(const BlockLatency& latency);

/// Both encoders and the fixed cost: the time of a sentence that does not depend on acceptance.
[[nodiscard]] double setup_ms(const BlockLatency& latency);

/// setup + iterations * (t_d + t_v + overhead).
[[nodiscard]] double sentence_ms(const BlockLatency& latency, double iterations);

/// Time of the drafter without verification, its drafts taken as the output: its encoder and t_d for each iteration.
[[nodiscard]] double drafter_alone_ms(const BlockLatency& latency, double iterations);

/// Speedup of a sentence: `plain_ms` / sentence_ms; +infinity if the sentence costs nothing. `plain_ms` > 0: the same
/// sentence decoded without speculation, encoder included.
[[nodiscard]] double speedup(const BlockLatency& latency, double iterations, double plain_ms);

/// Upper bound of the speedup for any number of accepted tokens: `plain_ms` / setup; +infinity without setup.
[[nodiscard]] double speedup_limit(const BlockLatency& latency, double plain_ms);

/// Time saved if both encoders run at once instead of one after the other: the shorter of the two.
[[nodiscard]] double parallel_encoders_gain_ms(const BlockLatency& latency);

/// Shares of a sentence's time; they add up to 1.
struct ModuleShares {
  double target_encoder;
  double drafter_encoder;
  double draft;
  double verify;
  double other;  ///< overhead and fixed cost
};
/// Throws DomainError for a sentence that takes no time.
[[nodiscard]] ModuleShares module_shares(const BlockLatency& latency, double iterations);

/// [Xia2023, Eq. 4] as printed, without costs per sentence: speedup = step * tokens / (draft + verify), all times in
/// one unit. `tokens_per_iteration` > 0, `step_time` > 0: one decode step of the target; draft + verify > 0.
[[nodiscard]] double speedup_without_setup(double tokens_per_iteration, double draft_time, double verify_time,
                                           double step_time);

// ---- Energy and carbon of a run with and without speculation, which draws more power for a shorter time.

struct PowerUse {
  double power_w;  ///< mean power of the device, >= 0
  double hours_h;  ///< >= 0
  double pue;      ///< power usage effectiveness of the data center: total over device power, >= 1
};

/// power * hours * PUE, in Wh.
[[nodiscard]] double energy_wh(const PowerUse& use);

/// `intensity_g_per_wh` >= 0 grams of CO2 equivalent for each Wh.
[[nodiscard]] double carbon_g(double energy_wh, double intensity_g_per_wh);

/// Energy with speculation divided by energy without: power_ratio / speedup, in one data center. Both > 0. Speculation
/// saves energy (a result below 1) exactly if the power ratio is below the speedup.
[[nodiscard]] double energy_ratio(double power_ratio, double speedup);

// ---- End-to-end effect of a faster verification kernel, and of fewer calls of it. [Wagner2024; Amdahl1967] A gain is
// the part of a time that is saved, 1 - after / before: finite and at most 1, negative if time is lost.

/// Times of one iteration in one unit, each >= 0 and finite, not all zero.
struct IterationTimes {
  double drafting;
  double target;
  double kernel;  ///< the sampling step that accepts, rejects and draws the replacement
};

/// Share of the verification kernel in an iteration, 0 to 1.
[[nodiscard]] double kernel_share(const IterationTimes& times);

/// Amdahl: gain of the whole if only a part of this share has a gain: share * part_gain.
[[nodiscard]] double wall_gain(double share, double part_gain);

/// The share that explains both gains: the inverse of the function above. Below 0 or above 1 no share does: something
/// else changed too. `part_gain` != 0.
[[nodiscard]] double implied_share(double wall_gain, double part_gain);

/// Gain of all calls together if each has `call_gain` and there are `call_ratio` >= 0 times as many: 1 - call_ratio (1
/// - call_gain).
[[nodiscard]] double total_gain(double call_gain, double call_ratio);

/// The ratio of numbers of calls that explains both gains: the inverse of the function above. `call_gain` < 1.
[[nodiscard]] double implied_call_ratio(double total_gain, double call_gain);

// ---- Memory that speculation needs beyond autoregressive decoding: the drafter's weights, its encoder's output and
// the largest intermediate of a block. Sizes are in bytes with `element_bytes` per number (4: single precision, 2:
// half); every count is >= 1.

/// Output of the drafter's encoder: batch x length x width numbers.
[[nodiscard]] double encoder_output_bytes(std::int64_t batch, std::int64_t length, std::int64_t width,
                                          std::int64_t element_bytes);

/// Logits of a block: batch x block x vocabulary numbers. An upper bound of what a block adds to the peak memory, which
/// another intermediate may reach at another time.
[[nodiscard]] double block_logits_bytes(std::int64_t batch, std::int64_t block, std::int64_t vocabulary,
                                        std::int64_t element_bytes);

/// Attention weights of one layer: batch x heads x length x length numbers. The largest intermediate of long inputs,
/// with speculation and without.
[[nodiscard]] double attention_weights_bytes(std::int64_t batch, std::int64_t heads, std::int64_t length,
                                             std::int64_t element_bytes);

/// Keys and values of one model: 2 x batch x layers x length x width numbers. `length` includes the drafted tokens.
[[nodiscard]] double key_value_cache_bytes(std::int64_t batch, std::int64_t layers, std::int64_t length,
                                           std::int64_t width, std::int64_t element_bytes);

/// Implementation of a verification call, in the order of the columns of [Wagner2024, Table 1]: tensor operations; one
/// kernel that writes every ratio and every residual; the same kernel on logits, without a softmax.
enum class VerificationVariant { baseline, exact, sigmoid };

/// Rows of vocabulary length that one call for one sequence reads: gamma + 1 of the target's logits and gamma of the
/// drafter's. gamma >= 1.
[[nodiscard]] std::int64_t verification_logit_rows(std::int64_t gamma);

/// Rows of vocabulary length that a call reads, plus those allocated at its memory peak, where it draws the corrected
/// token of a rejected draft. Counted from the tensors of the code of [Wagner2024]; the few further numbers per
/// position are neglected. In bytes: block_logits_bytes(1, rows, vocabulary, element_bytes).
[[nodiscard]] std::int64_t verification_peak_rows(VerificationVariant variant, std::int64_t gamma);

/// Peak memory of a model whose intermediates grow linearly with the batch, in any one unit.
struct PeakMemory {
  double weights;  ///< >= 0
  double fixed;    ///< beyond the weights at batch 0
  double per_row;  ///< for each sequence of the batch
};

/// weights + fixed + batch * per_row.
[[nodiscard]] double peak_memory(const PeakMemory& memory, std::int64_t batch);

/// The memory peak as a line through two measured peaks. Throws DomainError for equal batches.
[[nodiscard]] PeakMemory peak_memory_through(double weights, std::int64_t batch_a, double peak_a, std::int64_t batch_b,
                                             double peak_b);

}  // namespace foredraft::analytic
