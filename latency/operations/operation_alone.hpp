// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "latency/operations/program.hpp"

/// The operations of a pass one by one, so that each can be timed alone.
namespace foredraft::latency {

/// Everything that decides what an operation costs, name and storage type aside: "rows 6 outputs 4096 inputs 4096".
[[nodiscard]] std::string shape_text(const Operation& operation);

struct CountedOperation {
  Operation operation;  ///< the first of its name and shape
  std::int64_t count;
};

/// Operations of equal name and shape are one, in the order in which the program comes upon them.
[[nodiscard]] std::vector<CountedOperation> distinct_operations(const Program& program);

/// A program of one operation of `program`, over the buffers that this one names. An activation that it reads becomes
/// an input: nothing before it writes it.
[[nodiscard]] Program operation_alone(const Program& program, const Operation& operation);

}  // namespace foredraft::latency
