// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "gpu_bench/verify/verification.hpp"

/// Elementwise operations of a tensor library, one launch each: read from memory in the storage type, computed in fp32,
/// rounded back to memory.
namespace foredraft::gpu_bench::published {

/// Flags are bytes, counts 32-bit words (the library's are 64-bit; there are at most gamma of either).
FOREDRAFT_HOST_DEVICE inline float number(std::uint8_t value) { return static_cast<float>(value); }
FOREDRAFT_HOST_DEVICE inline float number(std::uint32_t value) { return static_cast<float>(value); }
template <class Storage>
FOREDRAFT_HOST_DEVICE inline float number(Storage value) {
  return to_float(value);
}

template <class Out>
FOREDRAFT_HOST_DEVICE inline Out stored(float value) {
  if constexpr (std::is_integral_v<Out>) {
    return static_cast<Out>(value);
  } else {
    return from_float<Out>(value);
  }
}

struct Divide {
  FOREDRAFT_HOST_DEVICE static float of(float a, float b) { return a / b; }
};
struct Less {
  FOREDRAFT_HOST_DEVICE static float of(float a, float b) { return a < b ? 1.0F : 0.0F; }
};
struct And {
  FOREDRAFT_HOST_DEVICE static float of(float a, float b) { return a * b; }
};
struct Not {
  FOREDRAFT_HOST_DEVICE static float of(float a) { return 1.0F - a; }
};
struct Convert {
  FOREDRAFT_HOST_DEVICE static float of(float a) { return a; }
};
struct IsZero {
  FOREDRAFT_HOST_DEVICE static float of(float a) { return a == 0.0F ? 1.0F : 0.0F; }
};
struct IsPositive {
  FOREDRAFT_HOST_DEVICE static float of(float a) { return a > 0.0F ? 1.0F : 0.0F; }
};
struct IsNotNegative {
  FOREDRAFT_HOST_DEVICE static float of(float a) { return a >= 0.0F ? 1.0F : 0.0F; }
};
struct IsBelowInfinity {
  FOREDRAFT_HOST_DEVICE static float of(float a) { return a < std::numeric_limits<float>::infinity() ? 1.0F : 0.0F; }
};
struct ClampAtZero {
  FOREDRAFT_HOST_DEVICE static float of(float a) { return a < 0.0F ? 0.0F : a; }  // NaN stays, as in the library
};

/// One thread for each of a body's elements: body(i).
template <class Body>
struct ElementwiseKernel {
  static constexpr unsigned max_threads = 256;

  Body body;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = static_cast<unsigned>((body.elements + threads - 1) / threads),
            .threads = threads,
            .shared_bytes = 0};
  }
  [[nodiscard]] Traffic traffic() const {
    const Traffic each = Body::traffic_of_one();
    const auto elements = static_cast<double>(body.elements);
    return {.read_bytes = elements * each.read_bytes, .written_bytes = elements * each.written_bytes};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const std::int64_t i = static_cast<std::int64_t>(block.block()) * block.threads() + block.thread();
    if (i < body.elements) body(i);
  }
};

template <class Body, class Launcher>
void launch_elementwise(Launcher& launcher, const Body& body) {
  launcher.launch(ElementwiseKernel<Body>{.body = body});
}

template <class Function, class In, class Out>
struct Map {
  const In* in;
  Out* out;
  std::int64_t elements;

  [[nodiscard]] static Traffic traffic_of_one() { return {.read_bytes = sizeof(In), .written_bytes = sizeof(Out)}; }
  FOREDRAFT_HOST_DEVICE void operator()(std::int64_t i) const { out[i] = stored<Out>(Function::of(number(in[i]))); }
};

/// out[i] = Function(in[i]).
template <class Function, class In, class Out, class Launcher>
void map(const In* in, Out* out, std::int64_t elements, Launcher& launcher) {
  launch_elementwise(launcher, Map<Function, In, Out>{.in = in, .out = out, .elements = elements});
}

template <class Function, class In, class Out>
struct Combine {
  const In* a;
  const In* b;
  Out* out;
  std::int64_t elements;

  [[nodiscard]] static Traffic traffic_of_one() { return {.read_bytes = 2 * sizeof(In), .written_bytes = sizeof(Out)}; }
  FOREDRAFT_HOST_DEVICE void operator()(std::int64_t i) const {
    out[i] = stored<Out>(Function::of(number(a[i]), number(b[i])));
  }
};

/// out[i] = Function(a[i], b[i]).
template <class Function, class In, class Out, class Launcher>
void combine(const In* a, const In* b, Out* out, std::int64_t elements, Launcher& launcher) {
  launch_elementwise(launcher, Combine<Function, In, Out>{.a = a, .b = b, .out = out, .elements = elements});
}

template <class Storage>
struct Set {
  Storage* out;
  float value;
  std::int64_t elements;

  [[nodiscard]] static Traffic traffic_of_one() { return {.read_bytes = 0.0, .written_bytes = sizeof(Storage)}; }
  FOREDRAFT_HOST_DEVICE void operator()(std::int64_t i) const { out[i] = from_float<Storage>(value); }
};

/// Index of the row of `position` in a request.
[[nodiscard]] FOREDRAFT_HOST_DEVICE inline std::int64_t row_of(unsigned request, unsigned rows_per_request,
                                                               unsigned position) {
  return static_cast<std::int64_t>(request) * rows_per_request + position;
}

/// Whether a draft follows `matches` accepted ones.
template <class Storage>
[[nodiscard]] FOREDRAFT_HOST_DEVICE inline bool has_draft(const VerificationInput<Storage>& input, unsigned request,
                                                          unsigned matches) {
  return matches < static_cast<unsigned>(input.draft_counts[request]) &&
         static_cast<std::uint32_t>(input.drafts[static_cast<std::int64_t>(request) * input.gamma + matches]) <
             input.vocabulary;
}

/// out[request, position] = rows[request, position, draft], a tensor indexed by tensors; 0 after the last draft.
template <class Storage>
struct GatherKernel {
  static constexpr unsigned max_threads = 128;

  VerificationInput<Storage> input;
  const Storage* rows;  ///< [batch, rows_per_request, vocabulary]
  unsigned rows_per_request;
  Storage* out;  ///< [batch, gamma]
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return {.blocks = input.batch, .threads = threads, .shared_bytes = 0}; }
  [[nodiscard]] Traffic traffic() const {
    const double elements = static_cast<double>(input.batch) * input.gamma;
    return {.read_bytes = elements * (sizeof(Storage) + sizeof(std::int32_t)),
            .written_bytes = elements * sizeof(Storage)};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned request = block.block();
    const unsigned count = draft_count(block, input, request);
    const std::int64_t first = row_of(request, input.gamma, 0);
    for (unsigned position = block.thread(); position < input.gamma; position += block.threads()) {
      out[first + position] =
          position < count
              ? rows[row_of(request, rows_per_request, position) * input.vocabulary + input.drafts[first + position]]
              : from_float<Storage>(0.0F);
    }
  }
};

/// out[request] = whether a draft follows the matches: what the host compares before it selects a row.
template <class Storage>
struct HasDraft {
  VerificationInput<Storage> input;
  const std::uint32_t* matches;  ///< [batch]
  std::uint8_t* out;             ///< [batch]
  std::int64_t elements;         ///< batch

  [[nodiscard]] static Traffic traffic_of_one() { return {.read_bytes = sizeof(std::uint32_t), .written_bytes = 1.0}; }
  FOREDRAFT_HOST_DEVICE void operator()(std::int64_t request) const {
    out[request] = has_draft(input, static_cast<unsigned>(request), matches[request]) ? 1 : 0;
  }
};

}  // namespace foredraft::gpu_bench::published
