// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "experiments/reproduce/published.hpp"
#include "gpu_bench/verify/verifiers.hpp"

/// The runs of [Wagner2024], and the cost of a verification call of its pairs: bytes and launches of the verifiers of
/// gpu_bench/verify, counted from the kernels, not measured.
namespace foredraft::experiments {

// ---- Finds rows of the same run in tables with different spellings ("CNN/DM" and "CNN/DailyMail", "Whisper Small.EN"
// and "Small.EN") and orders.

/// "CNN/DailyMail Llama2 7B", "LibriSpeech clean Large V2": the common name of a run in Tables 1, 3 and 4.
[[nodiscard]] std::string wagner_run(const PublishedTable& table, std::size_t row);

/// The row of `table` with this run. Throws std::logic_error if there is none.
[[nodiscard]] std::size_t wagner_row(const PublishedTable& table, const std::string& run);

// ---- Cost of a call.

/// A pair with its published vocabulary size and the format of its logits in the paper's code.
struct VerificationPair {
  std::string_view target;  ///< as in the names of its runs
  std::string_view name;
  bool speech;  ///< false: text
  std::int64_t vocabulary;
  std::int64_t element_bytes;  ///< 2 (fp16) or 4 (fp32)
};

inline constexpr std::array wagner_pairs{
    VerificationPair{"Small.EN", "Whisper Small.EN with Distil Small.EN", true, 51'864, 2},
    VerificationPair{"Large V2", "Whisper Large V2 with Distil Large V2", true, 51'865, 2},
    VerificationPair{"Llama2", "Llama2 7B or 13B with Sheared Llama 1.3B", false, 32'000, 4},
    VerificationPair{"Qwen", "Qwen 7B with Qwen 0.5B", false, 151'936, 4},
    VerificationPair{"Gemma", "Gemma 7B with Gemma 2B", false, 256'000, 4}};

/// The pair of a run, found by the name of its target: "XSum Llama2 7B", "CV16 en Small.EN". Throws std::logic_error if
/// there is none.
[[nodiscard]] const VerificationPair& wagner_pair(std::string_view run);

/// Initial draft length of the paper's runs.
inline constexpr std::int64_t first_gamma = 5;
inline constexpr std::int64_t longest_swept_draft = 20;

struct CallCost {
  double moved_bytes;  ///< read and written by the kernels
  double launches;
  double read_backs;  ///< number of times the host waits for a result
};

/// Cost of a call for one sequence with `gamma` >= 1 drafts, of which one is rejected.
[[nodiscard]] CallCost call_cost(gpu_bench::Verifier verifier, const VerificationPair& pair, std::int64_t gamma);

/// Estimated time on the paper's device, an A100 with 80 GB: launches at the time of a small kernel, and bytes at the
/// printed bandwidth. Excludes waits of the host and the time of the launching library, because no source states them
/// for this device.
[[nodiscard]] double counted_call_us(const CallCost& cost);

/// Gain of a call, 1 - after / before, in counted time.
[[nodiscard]] double counted_call_gain(gpu_bench::Verifier verifier, const VerificationPair& pair, std::int64_t gamma);

// ---- Memory of a call, in rows of vocabulary length.

/// In the order of the columns of [Wagner2024, Table 1]: tensor operations; one kernel that writes all ratios and
/// residuals; the same kernel on logits, without softmax.
enum class VerificationVariant { baseline, exact, sigmoid };

/// Rows that a call for one sequence reads: gamma + 1 of the target's logits and gamma of the drafter's.
[[nodiscard]] std::int64_t verification_logit_rows(std::int64_t gamma);

/// These rows plus the rows allocated at the memory peak, where the call draws the corrected token of a rejected draft.
/// Counted from the tensors in the code of [Wagner2024]; a few numbers per position are neglected.
[[nodiscard]] std::int64_t verification_peak_rows(VerificationVariant variant, std::int64_t gamma);

}  // namespace foredraft::experiments
