// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "latency/operations/contents.hpp"
#include "latency/operations/program.hpp"

/// The double-precision answer that every backend is held to.
namespace foredraft::latency {

/// Runs the operations one after another in double precision, without rounding in between. StoreKeysValues turns the
/// queries where they lie; the packed keys stay as they are. Norms add 1e-6 to the mean square or variance.
void run_reference(const Program& program, BufferContents& contents);

/// Added to the mean square or the variance before the root.
inline constexpr double norm_epsilon = 1e-6;

/// Base of the rotary angles: position * rotary_base^(-2 i / head_dim) for the pair (i, i + head_dim / 2).
inline constexpr double rotary_base = 10'000.0;

}  // namespace foredraft::latency
