// SPDX-License-Identifier: Apache-2.0
#include "sim/system/length_law.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

constexpr double longest_length = 1e9;

}  // namespace

void check_length(std::string_view name, const LengthLaw& law, std::int64_t shortest) {
  const double least = law.geometric ? std::max(1.0, static_cast<double>(shortest)) : static_cast<double>(shortest);
  if (!(law.tokens >= least && law.tokens <= longest_length)) {
    throw DomainError(fmt::format("invalid {}={} (must lie in {} to {})", name, law.tokens, least, longest_length));
  }
  if (law.geometric) {
    if (law.spread != 0) {
      throw DomainError(fmt::format("invalid {} spread={} (must be 0 for geometric lengths)", name, law.spread));
    }
    return;
  }
  if (law.tokens != std::floor(law.tokens)) {
    throw DomainError(fmt::format("invalid {}={} (must be whole unless lengths are geometric)", name, law.tokens));
  }
  check_range(fmt::format("{} spread", name), law.spread, 0, static_cast<std::int64_t>(law.tokens) - shortest);
}

std::int64_t draw_length(const LengthLaw& law, RandomStream& random) {
  if (law.geometric) return draw_length(SequenceLaw{.tokens = law.tokens, .geometric = true}, random);
  const auto middle = static_cast<std::int64_t>(law.tokens);
  if (law.spread == 0) return middle;
  // The high word of a product: uniform to 2^-32 of a length's chance.
  const auto lengths = static_cast<std::uint64_t>(2 * law.spread + 1);
  return middle - law.spread + static_cast<std::int64_t>((Uint128{lengths} * random.next_u64()) >> 64U);
}

}  // namespace foredraft::sim
