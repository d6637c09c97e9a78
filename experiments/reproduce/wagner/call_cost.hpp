// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "gpu_bench/verify/launch_verifier.hpp"

/// What one verification call of the pairs of [Wagner2024] costs by count: bytes and launches of the verifiers of
/// gpu_bench/verify, counted from the kernels themselves, not measured.
namespace foredraft::experiments {

/// The size of the vocabulary as the networks are published, and the number format that the code of the paper gives
/// their logits.
struct VerificationPair {
  std::string_view name;
  std::int64_t vocabulary;
  std::int64_t element_bytes;  ///< 2 (fp16) or 4 (fp32)
};

[[nodiscard]] std::span<const VerificationPair> wagner_speech_pairs();
[[nodiscard]] std::span<const VerificationPair> wagner_text_pairs();

/// The pair of a run by the name of its target: "XSum Llama2 7B", "CV16 en Small.EN". Throws std::logic_error where
/// there is none.
[[nodiscard]] const VerificationPair& wagner_pair(std::string_view run);

/// The three that the paper compares, and this project's own.
struct CallVariant {
  std::string_view name;
  gpu_bench::Verifier verifier;
};
inline constexpr CallVariant call_variants[] = {{"baseline", gpu_bench::Verifier::hf_reference},
                                                {"exact", gpu_bench::Verifier::wagner_exact},
                                                {"sigmoid", gpu_bench::Verifier::wagner_sigmoid},
                                                {"fused_exact", gpu_bench::Verifier::fused_exact}};

/// The draft length at which the paper's runs start.
inline constexpr std::int64_t first_gamma = 5;
inline constexpr std::int64_t longest_swept_draft = 20;

struct CallCost {
  double moved_bytes;  ///< read and written, as the kernels request them
  double launches;
  double read_backs;  ///< times that the host waits for a result
};

/// One call for one sequence with `gamma` >= 1 drafts, one of them rejected.
[[nodiscard]] CallCost call_cost(gpu_bench::Verifier verifier, const VerificationPair& pair, std::int64_t gamma);

/// What a call of this project's own verifier takes besides the logits it is given, in bytes.
[[nodiscard]] double fused_memory_bytes(const VerificationPair& pair, std::int64_t gamma);

/// Launches at the time of a small kernel on the paper's device, an A100 with 80 GB, and bytes at its printed
/// bandwidth. The host's waits cost nothing here: no source says what they cost on that device. Nor does the library
/// that the launches come from, and it is slower than a stream of ready launches.
[[nodiscard]] double counted_call_us(const CallCost& cost);

/// What a call saves, 1 - after / before, by counted time.
[[nodiscard]] double counted_call_gain(gpu_bench::Verifier verifier, const VerificationPair& pair, std::int64_t gamma);

}  // namespace foredraft::experiments
