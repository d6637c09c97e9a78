// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace foredraft::detail {
[[noreturn]] void condition_failed(const char* kind, const char* condition, const char* file, int line);
}  // namespace foredraft::detail

// Internal contracts: on in the dev and asan presets, free in release. A failure is a bug of ours, never of the input.
#ifdef FOREDRAFT_ASSERTIONS
#define FOREDRAFT_EXPECT(condition) \
  ((condition) ? void(0) : ::foredraft::detail::condition_failed("precondition", #condition, __FILE__, __LINE__))
#define FOREDRAFT_ENSURE(condition) \
  ((condition) ? void(0) : ::foredraft::detail::condition_failed("postcondition", #condition, __FILE__, __LINE__))
#else
#define FOREDRAFT_EXPECT(condition) void(0)
#define FOREDRAFT_ENSURE(condition) void(0)
#endif
