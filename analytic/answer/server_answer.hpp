// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/stop.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"

namespace foredraft::analytic {

/// The closed forms of a server: lengths that do not vary but geometrically, and iterations that all take the same
/// time. Throws Interrupted when stopped.
[[nodiscard]] ClosedForm server_answer(const Server& server, const Scenario& scenario, StopToken stop = {});

}  // namespace foredraft::analytic
