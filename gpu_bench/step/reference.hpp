#pragma once

#include <cstdint>
#include <vector>

#include "gpu_bench/step/program.hpp"

/// The double-precision answer that every backend is held to.
namespace foredraft::gpu_bench {

/// Contents of all buffers, by position; token buffers hold whole numbers.
using BufferContents = std::vector<std::vector<double>>;

/// Random weights, caches and tokens as every backend fills them: a function of the seed, the buffer's name and the
/// element alone, rounded to `type`. Activations are poisoned with NaN.
[[nodiscard]] BufferContents initial_contents(const Program& program, DataType type, std::uint64_t seed);

/// Runs the operations one after another in double precision, without rounding in between.
void run_reference(const Program& program, BufferContents& contents);

}  // namespace foredraft::gpu_bench
