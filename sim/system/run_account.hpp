// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/integer_moments.hpp"

namespace foredraft::sim {

/// What went in, came out and is left when a replica stops; times in ns.
struct RunAccount {
  std::int64_t arrived = 0;  ///< requests, counted as time passes them
  std::int64_t departed = 0;
  std::int64_t in_service = 0;
  std::int64_t waiting = 0;
  Int128 emitted_tokens = 0;     ///< counted at every pass
  Int128 departed_tokens = 0;    ///< the lengths of the departed
  Int128 in_service_tokens = 0;  ///< emitted so far for those in service
  Int128 in_system_ns = 0;       ///< integral of the number of requests in the system over time
  Int128 departed_ns = 0;        ///< sum of arrival to departure
  Int128 remaining_ns = 0;       ///< sum of arrival to now over those in service and waiting
};

/// Throws std::logic_error unless every request that arrived departed, is served or waits, every token belongs to one
/// of them, and Little's law holds as the identity it is over a finite run, with what is left at its end. [Little1961]
void check_account(const RunAccount& account);

}  // namespace foredraft::sim
