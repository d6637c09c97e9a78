// SPDX-License-Identifier: Apache-2.0
#include "latency/profile/verification_cell.hpp"

#include <fmt/format.h>

namespace foredraft::latency {

std::string to_text(const VerificationCell& cell) {
  return fmt::format("{} {} batch {} gamma {} vocabulary {} {} {} {}", cell.verifier, cell.dtype, cell.batch,
                     cell.gamma, cell.vocabulary, cell.logits, to_string(cell.cache), to_string(cell.launch));
}

}  // namespace foredraft::latency
