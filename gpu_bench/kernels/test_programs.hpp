// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "latency/operations/program.hpp"

/// What backends are compared with the reference on: small enough for it, with everything that a pass may have.
namespace foredraft::gpu_bench {

struct TestProgram {
  std::string name;
  latency::Program program;
  bool picks_tokens;  ///< a choice that rounding may turn: the reference may go another way
};

/// Passes with grouped heads, gates, biases, both norms, rotary and learned positions, cross-attention, keys that are
/// split over blocks, sizes that are multiples of a pack and others.
[[nodiscard]] std::vector<TestProgram> test_programs();

/// Largest error of a pass, root mean square over that of its output, that rounding to `type` between some tens of
/// operations explains.
[[nodiscard]] double allowed_error(latency::DataType type);

/// Root mean square of the difference over that of `want`.
[[nodiscard]] double relative_error(const std::vector<double>& got, const std::vector<double>& want);

}  // namespace foredraft::gpu_bench
