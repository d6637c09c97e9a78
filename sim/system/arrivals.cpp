// SPDX-License-Identifier: Apache-2.0
#include "sim/system/arrivals.hpp"

#include <cmath>
#include <limits>

#include "core/check.hpp"
#include "sim/process/simulators.hpp"

namespace foredraft::sim {
namespace {

constexpr double ns_per_s = 1e9;
constexpr std::int64_t max_clients = std::int64_t{1} << 24U;

}  // namespace

void check_arrivals(const Arrivals& law) {
  if (law.kind == ArrivalKind::closed) {
    check_range("clients", law.clients, 1, max_clients);
  } else {
    check_positive("rate_per_s", law.rate_per_s);
  }
}

ArrivalStream::ArrivalStream(const Arrivals& law, const RunKey& key, std::uint64_t block)
    : law_(law), random_(key.seed, {.purpose = Purpose::arrival, .point = key.point, .block = block}) {
  if (law.kind == ArrivalKind::closed) {
    closed_.assign(static_cast<std::size_t>(law.clients), 0);
  } else {
    draw_interval();
  }
}

std::int64_t ArrivalStream::next_ns() const {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  if (law_.kind == ArrivalKind::closed) return closed_.empty() ? never : closed_.front();
  return open_ns_ < static_cast<double>(never) ? static_cast<std::int64_t>(open_ns_) : never;
}

void ArrivalStream::pop() {
  if (law_.kind == ArrivalKind::closed) {
    closed_.pop_front();
  } else {
    draw_interval();
  }
}

void ArrivalStream::answered(std::int64_t now_ns) {
  if (law_.kind == ArrivalKind::closed) closed_.push_back(now_ns);
}

void ArrivalStream::draw_interval() {
  const double intervals = law_.kind == ArrivalKind::poisson ? -std::log(1.0 - random_.uniform()) : 1.0;
  open_ns_ += intervals * ns_per_s / law_.rate_per_s;
}

std::int64_t draw_length(const TokenCount& count, RandomStream& random) {
  if (count.geometric) return draw_length(SequenceLength{.tokens = count.tokens, .geometric = true}, random);
  const auto middle = static_cast<std::int64_t>(count.tokens);
  if (count.spread == 0) return middle;
  // The high word of a product: uniform to 2^-32 of a length's probability.
  const auto lengths = static_cast<std::uint64_t>(2 * count.spread + 1);
  return middle - count.spread + static_cast<std::int64_t>((Uint128{lengths} * random.next_u64()) >> 64U);
}

}  // namespace foredraft::sim
