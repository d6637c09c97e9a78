// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Time of a sentence under speculation with a parallel ("block") drafter: [Xia2023, Eq. 4] with the costs that it
/// leaves out. All times are >= 0 and finite, in milliseconds; `iterations` may be a mean and is >= 0.
namespace foredraft::analytic {

struct BlockLatency {
  double target_encoder_ms;   ///< once a sentence
  double drafter_encoder_ms;  ///< once a sentence
  double draft_ms;            ///< one drafting pass, whatever the block size (t_d)
  double verify_ms;           ///< one pass of the target over a block (t_v)
  double overhead_ms;         ///< whatever else an iteration costs
  double fixed_ms;            ///< whatever else a sentence costs
};

/// t_d + t_v + overhead.
[[nodiscard]] double iteration_ms(const BlockLatency& latency);

/// Both encoders and the fixed cost: what a sentence takes whatever is accepted.
[[nodiscard]] double setup_ms(const BlockLatency& latency);

/// setup + iterations * (t_d + t_v + overhead).
[[nodiscard]] double sentence_ms(const BlockLatency& latency, double iterations);

/// The drafter alone, its drafts taken as the output: its encoder and t_d for each iteration.
[[nodiscard]] double drafter_alone_ms(const BlockLatency& latency, double iterations);

/// `plain_ms` / sentence_ms; +infinity where the sentence costs nothing. `plain_ms` > 0: the same sentence decoded
/// plainly, encoder included.
[[nodiscard]] double speedup(const BlockLatency& latency, double iterations, double plain_ms);

/// What no number of accepted tokens exceeds: `plain_ms` / setup; +infinity without setup.
[[nodiscard]] double speedup_limit(const BlockLatency& latency, double plain_ms);

/// Time that both encoders save when they run at once instead of one after the other: the shorter one.
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

/// [Xia2023, Eq. 4] as printed, without cost per sentence: speedup = step * tokens / (draft + verify), all times in one
/// unit of any name. `tokens_per_iteration` > 0, `step_time` > 0: one plain step of the target; draft + verify > 0.
[[nodiscard]] double speedup_without_setup(double tokens_per_iteration, double draft_time, double verify_time,
                                           double step_time);

}  // namespace foredraft::analytic
