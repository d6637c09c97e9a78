// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "core/random_stream.hpp"

namespace foredraft::sim {

/// Tokens of a prompt or of an answer.
struct LengthLaw {
  double tokens;            ///< the length, or its mean
  std::int64_t spread = 0;  ///< uniform on the whole numbers from tokens - spread to tokens + spread
  bool geometric = false;   ///< end with hazard 1 / tokens at every token instead; then tokens >= 1, spread = 0
};

/// Throws DomainError, naming the law `name`, unless every length is a whole number from `shortest` to 1e9.
void check_length(std::string_view name, const LengthLaw& law, std::int64_t shortest);

[[nodiscard]] std::int64_t draw_length(const LengthLaw& law, RandomStream& random);

}  // namespace foredraft::sim
