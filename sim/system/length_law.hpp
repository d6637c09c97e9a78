// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/random_stream.hpp"
#include "foredraft/scenario.hpp"

namespace foredraft::sim {

/// By inversion where geometric. `count` must have passed check_token_count.
[[nodiscard]] std::int64_t draw_length(const TokenCount& count, RandomStream& random);

}  // namespace foredraft::sim
