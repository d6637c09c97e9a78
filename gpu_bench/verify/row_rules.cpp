// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/row_rules.hpp"

#include <fmt/format.h>

#include "core/check.hpp"

namespace foredraft::gpu_bench {

void check_rule(const TopBeta& rule) {
  check_at_least("beta", rule.beta, 1);
  check_nonnegative("tolerance", rule.tolerance);
}

void check_rule(const TypicalAcceptance& rule) {
  if (!(rule.epsilon > 0.0 && rule.epsilon < 1.0)) {
    throw DomainError(fmt::format("invalid epsilon={} (must be in (0, 1))", rule.epsilon));
  }
  check_positive("delta", rule.delta);
}

}  // namespace foredraft::gpu_bench
