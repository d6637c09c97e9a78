// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Rules that judge a draft by the target's row alone, and their parameters. Behind a rejected draft and behind the
/// last accepted one they emit the target's most probable token, the lowest of tied ones. They do not look at the
/// drafter, so their floor is the target's rows, once each: (gamma + 1) V s bytes a request.
namespace foredraft::gpu_bench {

/// Spec-Verification [Xia2023, Eq. 8-10]: a draft is accepted if fewer than `beta` tokens have a larger logit and its
/// own lies at most `tolerance` (nat) below the largest. With beta = 1 or tolerance = 0 the rule is greedy matching:
/// of tied tokens the first alone is accepted. A logit of -inf never is.
struct TopBeta {
  std::int64_t beta = 3;
  double tolerance = 1.0;
};

/// Typical acceptance [Cai2024]: a draft is accepted if p(x) > min(epsilon, delta exp(-H)), H the entropy of p in nat.
struct TypicalAcceptance {
  double epsilon = 0.09;
  double delta = 0.3;
};

/// Throw DomainError: beta >= 1, tolerance >= 0; 0 < epsilon < 1, delta > 0; all finite.
void check_rule(const TopBeta& rule);
void check_rule(const TypicalAcceptance& rule);

}  // namespace foredraft::gpu_bench
