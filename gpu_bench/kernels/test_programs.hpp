// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "latency/operations/program.hpp"

/// Test programs for comparing backends with the reference: small, with every feature that a pass may have.
namespace foredraft::gpu_bench {

struct TestProgram {
  std::string name;
  latency::Program program;
  bool picks_tokens;  ///< rounding may change a choice, after which the reference continues differently
};

/// Passes with grouped heads, gates, biases, both norms, norms of heads, rotary and learned positions, cross-attention,
/// keys that are split over blocks, sizes that are multiples of a pack and others.
[[nodiscard]] std::vector<TestProgram> test_programs();

/// Maximum error of a pass that rounding to `type` between some tens of operations explains: root mean square of the
/// error divided by that of the output.
[[nodiscard]] double allowed_error(latency::DataType type);

/// Root mean square of the difference divided by that of `want`.
[[nodiscard]] double relative_error(const std::vector<double>& got, const std::vector<double>& want);

}  // namespace foredraft::gpu_bench
