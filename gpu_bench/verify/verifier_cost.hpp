// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/kernels/workspace.hpp"
#include "gpu_bench/verify/launcher.hpp"
#include "gpu_bench/verify/verifiers.hpp"

namespace foredraft::gpu_bench {

/// Memory that a call takes besides its inputs and outputs.
[[nodiscard]] WorkspaceSize verifier_workspace(Verifier verifier, const VerificationShape& shape,
                                               latency::DataType type);

/// What a call costs, counted from its kernels where every request has gamma drafts.
[[nodiscard]] VerificationCost verification_cost(Verifier verifier, const VerificationShape& shape,
                                                 latency::DataType type);

}  // namespace foredraft::gpu_bench
