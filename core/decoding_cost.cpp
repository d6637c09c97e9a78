// SPDX-License-Identifier: Apache-2.0
#include "core/decoding_cost.hpp"

#include "core/check.hpp"

namespace foredraft {

void check_cost(const DecodingCost& cost) {
  check_positive("iteration", cost.iteration);
  check_nonnegative("draft_pass", cost.draft_pass);
  check_nonnegative("sequence", cost.sequence);
  check_nonnegative("plain_sequence", cost.plain_sequence);
}

}  // namespace foredraft
