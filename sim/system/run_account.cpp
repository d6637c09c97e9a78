// SPDX-License-Identifier: Apache-2.0
#include "sim/system/run_account.hpp"

#include <stdexcept>

namespace foredraft::sim {

void check_account(const RunAccount& account) {
  if (account.arrived != account.departed + account.in_service + account.waiting) {
    throw std::logic_error("serving: requests that arrived did not depart and are not there");
  }
  if (account.emitted_tokens != account.departed_tokens + account.in_service_tokens) {
    throw std::logic_error("serving: emitted tokens are not those of the requests");
  }
  if (account.in_system_ns != account.departed_ns + account.remaining_ns) {
    throw std::logic_error("serving: Little's law does not hold");
  }
}

}  // namespace foredraft::sim
