// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Random123/philox.h>
#include <cstddef>
#include <cstdint>

#include "core/random_stream.hpp"
#include "gpu_bench/kernels/host_block.hpp"
#include "gpu_bench/kernels/reduce.hpp"

/// The random numbers of a verification step: bit-identical to the counters of foredraft::RandomStream, so that a
/// kernel, its reference and the simulator make the same decisions.
namespace foredraft::gpu_bench {

/// The draws of one iteration: request b has point `first_request` + b and block `iteration`.
struct DrawStream {
  std::uint32_t key[2];  ///< philox_key(seed)
  std::uint32_t first_request;
  std::uint32_t iteration;
};

[[nodiscard]] inline DrawStream draw_stream(std::uint64_t seed, std::uint32_t first_request, std::uint32_t iteration) {
  const auto key = philox_key(seed);
  return {.key = {key[0], key[1]}, .first_request = first_request, .iteration = iteration};
}

/// The first 64 bits of draw `index`: the result of next_u64() of RandomStream(seed, {purpose, point, block}) after
/// seek(index).
[[nodiscard]] FOREDRAFT_HOST_DEVICE inline std::uint64_t draw_word(const DrawStream& stream, Purpose purpose,
                                                                   unsigned request, std::uint32_t index) {
  const r123::Philox4x32::ctr_type counter = {
      {index, stream.iteration, stream.first_request + request, static_cast<std::uint32_t>(purpose) << 24U}};
  const r123::Philox4x32::key_type key = {{stream.key[0], stream.key[1]}};
  const r123::Philox4x32::ctr_type words = r123::Philox4x32{}(counter, key);
  return static_cast<std::uint64_t>(words.v[1]) << 32U | words.v[0];
}

/// Uniform on [0, 1) with 53 bits: RandomStream::uniform() of the same draw.
[[nodiscard]] FOREDRAFT_HOST_DEVICE inline double draw_uniform(const DrawStream& stream, Purpose purpose,
                                                               unsigned request, std::uint32_t index) {
  return static_cast<double>(draw_word(stream, purpose, request, index) >> 11U) * 0x1.0p-53;
}

// ---- The verification step of speculative decoding, from logits to emitted tokens, for a batch of requests.
//
// Treatment of invalid logits by a verifier: NaN counts as -inf, so its token is never sampled; +inf as the largest
// finite fp32, so such tokens share all of the probability. A row without any finite logit gives every token the
// probability 0: for a target, every draft is rejected and token 0 is emitted; for a drafter, every draft that the
// target could emit is accepted (p/q is infinite). `faults` marks the requests with such a row. 0/0 rejects. A
// rejection that leaves no residual (p = q) samples the token from p. A draft outside the vocabulary ends the drafts of
// its request, as padding does.

/// Follows the last token of a row of outputs; also pads drafts.
inline constexpr std::int32_t no_token = -1;

/// Sizes that determine the cost of a verification.
struct VerificationShape {
  std::int64_t batch = 1;       ///< requests
  std::int64_t gamma = 5;       ///< maximum number of drafts of a request, 0 to 1,023
  std::int64_t vocabulary = 1;  ///< 1 to 2^24
};

/// Output of drafter and target. Rows are contiguous, those of a request one after another; rows of positions after a
/// request's last draft (of the target: after the one following it) are never read.
template <class Storage>
struct VerificationInput {
  const Storage* target_logits;      ///< [batch, gamma + 1, vocabulary]
  const Storage* draft_logits;       ///< [batch, gamma, vocabulary]
  const std::int32_t* drafts;        ///< [batch, gamma]
  const std::int32_t* draft_counts;  ///< [batch]: drafts of each request, 0 to gamma
  unsigned batch, gamma, vocabulary;
  DrawStream draws;
};

/// Output of a verifier: the accepted drafts and the token after them.
struct VerificationOutput {
  std::int32_t* tokens;          ///< [batch, gamma + 1], no_token after the last
  std::int32_t* emitted_counts;  ///< [batch]: 1 to gamma + 1
  std::uint32_t* faults;         ///< [batch]: 1 if a row that was read had NaN or +inf, or nothing finite
};

// ---- A verifier is a function template that takes its memory from a WorkspaceCutter and passes kernels to a launcher,
// one after another:
//
//     launcher.launch(kernel)               every kernel says what it moves: Traffic traffic() const
//     launcher.read_back(address, bytes)    the host waits for this before it goes on, as the published code does
//
// One launcher runs the kernels on the host, one counts them, one (cuda/) launches them.

/// Hands out the tensors of a call, one after another. Without memory (null) it only counts, and every tensor is null.
class WorkspaceCutter {
 public:
  WorkspaceCutter() = default;
  explicit WorkspaceCutter(const Workspace& workspace) : workspace_(workspace) {}

  /// Begins where the tensor before ends.
  template <class T>
  [[nodiscard]] T* packed(std::int64_t elements) {
    static_assert(sizeof(T) % sizeof(float) == 0);
    float* begin = workspace_.floats == nullptr ? nullptr : workspace_.floats + size_.floats;
    size_.floats += elements * static_cast<std::int64_t>(sizeof(T) / sizeof(float));
    return reinterpret_cast<T*>(begin);
  }

  /// Begins at a multiple of 256 bytes, if all tensors before did.
  template <class T>
  [[nodiscard]] T* tensor(std::int64_t elements) {
    struct Row {
      float floats[64];
    };
    constexpr auto row_bytes = static_cast<std::int64_t>(sizeof(Row));
    const std::int64_t bytes = elements * static_cast<std::int64_t>(sizeof(T));
    return reinterpret_cast<T*>(packed<Row>((bytes + row_bytes - 1) / row_bytes));
  }

  /// Counters are zero between kernels, so all kernels share the same.
  [[nodiscard]] std::uint32_t* counters(std::int64_t count) {
    if (count > size_.counters) size_.counters = count;
    return workspace_.counters;
  }

  [[nodiscard]] WorkspaceSize size() const { return size_; }

 private:
  Workspace workspace_{};
  WorkspaceSize size_;
};

struct HostLauncher {
  HostOrder order = HostOrder::forward;

  template <class Kernel>
  void launch(const Kernel& kernel) {
    run_on_host(kernel, order);
  }
  void read_back(const void* /*address*/, std::size_t /*bytes*/) {}
};

/// Bytes that are moved.
struct Traffic {
  double read_bytes = 0.0;
  double written_bytes = 0.0;

  Traffic& operator+=(const Traffic& other) {
    read_bytes += other.read_bytes;
    written_bytes += other.written_bytes;
    return *this;
  }
};

/// Cost of a verification besides its time.
struct VerificationCost {
  Traffic traffic;  ///< as requested by the kernels; what is read twice counts twice
  unsigned launches = 0;
  unsigned read_backs = 0;
  WorkspaceSize workspace;  ///< besides inputs and outputs
};

struct CountingLauncher {
  VerificationCost cost;

  template <class Kernel>
  void launch(const Kernel& kernel) {
    cost.traffic += kernel.traffic();
    ++cost.launches;
  }
  void read_back(const void* /*address*/, std::size_t /*bytes*/) { ++cost.read_backs; }
};

// ---- What kernels share.

/// The first i < count with holds(i), or count; computed separately in every warp, whose lanes test neighboring i.
template <class Block, class Predicate>
FOREDRAFT_HOST_DEVICE inline unsigned first_where(Block& block, unsigned count, const Predicate& holds) {
  unsigned first = count;
  for (unsigned i = block.thread() % warp_lanes; i < count; i += warp_lanes) {
    if (i < first && holds(i)) first = i;
  }
  for (unsigned mask = warp_lanes / 2; mask > 0; mask /= 2) {
    const unsigned other = block.shuffle_xor(first, mask);
    first = other < first ? other : first;
  }
  return first;
}

/// Number of drafts of a request to verify: those before the first that is not a token.
template <class Storage, class Block>
FOREDRAFT_HOST_DEVICE inline unsigned draft_count(Block& block, const VerificationInput<Storage>& input,
                                                  unsigned request) {
  const std::int32_t* drafts = input.drafts + static_cast<std::int64_t>(request) * input.gamma;
  const auto count = static_cast<unsigned>(input.draft_counts[request]);
  // All of the row is read, not only `count` of it: one latency instead of two.
  const unsigned tokens = first_where(
      block, input.gamma, [&](unsigned i) { return static_cast<std::uint32_t>(drafts[i]) >= input.vocabulary; });
  return tokens < count ? tokens : count;
}

}  // namespace foredraft::gpu_bench
