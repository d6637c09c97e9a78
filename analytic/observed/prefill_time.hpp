// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "foredraft/quantities.hpp"

/// What prompts take of iterations that also decode, from windows with more and with fewer of them.
namespace foredraft::analytic {

/// One window of a server.
struct MixedWindow {
  double iteration_ms;         ///< > 0: the mean time of an iteration, prompts included
  double prompt_tokens_per_s;  ///< >= 0
};

struct PrefillTime {
  Estimate decode_ms;            ///< an iteration without prompt tokens
  Estimate per_prompt_token_ms;  ///< > 0
};

/// Least squares of iterations per second over prompt tokens per second (D28). Nothing with fewer than 8 windows, or
/// where prompts take no time within 95 %. Throws DomainError on a value out of range.
[[nodiscard]] std::optional<PrefillTime> prefill_time(std::span<const MixedWindow> windows);

}  // namespace foredraft::analytic
