// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/parallel.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"

namespace foredraft::analytic {

/// The closed forms of a scenario; NaN for a quantity without one, infinity for an unbounded one. `pool_acceptance`:
/// the exact acceptance of a token simulation whose iterations are i.i.d. (sim::pool_acceptance); NaN if it is not
/// known. Throws DomainError for an argument outside its domain, and Interrupted when stopped.
[[nodiscard]] ClosedForm answer(const Scenario& scenario, double pool_acceptance = unknown<double>,
                                StopToken stop = {});

}  // namespace foredraft::analytic
