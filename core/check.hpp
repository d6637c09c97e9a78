// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "foredraft/errors.hpp"

namespace foredraft::detail {
[[noreturn]] void condition_failed(const char* kind, const char* condition, const char* file, int line);
}  // namespace foredraft::detail

// Internal contracts: active in the dev and asan presets, no code in release. A failure is a bug in foredraft, never a
// problem of the input.
#ifdef FOREDRAFT_ASSERTIONS
#define FOREDRAFT_EXPECT(condition) \
  ((condition) ? void(0) : ::foredraft::detail::condition_failed("precondition", #condition, __FILE__, __LINE__))
#define FOREDRAFT_ENSURE(condition) \
  ((condition) ? void(0) : ::foredraft::detail::condition_failed("postcondition", #condition, __FILE__, __LINE__))
#else
#define FOREDRAFT_EXPECT(condition) void(0)
#define FOREDRAFT_ENSURE(condition) void(0)
#endif

namespace foredraft {

// ---- Argument checks, shared by every public function. NaN fails all of them. Messages read `invalid NAME=VALUE
// (must ...)`, without the value for an empty list, so that a caller can prepend file and line.

/// Requires 0 <= value <= 1.
void check_probability(std::string_view name, double value);

/// Requires a finite value >= 0.
void check_nonnegative(std::string_view name, double value);

/// Requires a finite value > 0.
void check_positive(std::string_view name, double value);

/// Requires value >= minimum.
void check_at_least(std::string_view name, std::int64_t value, std::int64_t minimum);

/// Requires minimum <= value <= maximum.
void check_range(std::string_view name, std::int64_t value, std::int64_t minimum, std::int64_t maximum);

/// Requires at least one entry; all must be probabilities. The message names the first invalid entry as `NAME[i]`.
void check_probabilities(std::string_view name, std::span<const double> values);

/// Requires nonnegative finite entries that sum to 1 within `tolerance`.
/// The default allows the round-off of a 256,000-term sum in double precision (V * epsilon = 5.7e-11), rounded up.
void check_distribution(std::string_view name, std::span<const double> values, double tolerance = 1e-10);

}  // namespace foredraft
