// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>

/// Counter-based random numbers: Philox4x32-10 [Salmon2011], the generator that cuRAND also offers.
///
/// A draw is a pure function of (seed, purpose, point, block, index), independent of execution order, threads and
/// shards. The 64-bit key is the seed; the 128-bit counter is laid out as
///
///     word 0          low 32 bits of the draw index
///     word 1          block (replica, fixed unit of work)
///     word 2          point of the sweep
///     word 3          purpose in the top 8 bits, high 24 bits of the draw index below
///
/// so 2^56 draws of four 32-bit words for each of 2^32 blocks, 2^32 points and 256 purposes.
namespace foredraft {

/// What a stream is used for. Purposes never share draws. Only append: changing a number changes results.
enum class Purpose : std::uint8_t {
  survival = 1,          ///< one draw an iteration against survival thresholds (fast path)
  survival_tie = 2,      ///< refinement of a tied survival draw
  bernoulli = 3,         ///< one draw a drafted token (reference path)
  bernoulli_tie = 4,     ///< refinement of a tied Bernoulli draw
  latent_alpha = 5,      ///< the alpha of one iteration of a Beta mixture
  sequence_length = 6,   ///< end of sequence
  trace = 7,             ///< unobserved outcomes of a recorded trace
  logits = 8,            ///< synthetic target distributions
  draft_logits = 9,      ///< noise that makes the draft from the target
  context = 10,          ///< which pooled context a position meets
  draft_token = 11,      ///< the drafter's token
  accept = 12,           ///< the verifier's uniform
  replacement = 13,      ///< the token emitted after a rejection
  bonus_token = 14,      ///< the token emitted after all drafts were accepted
  text = 15,             ///< generated text
  chain_start = 16,      ///< whether a Markov chain starts after an accepted token
  chain_start_tie = 17,  ///< refinement of a tied chain start
  candidate = 18,        ///< candidates of a position after the first, and their replacement
  late_candidate = 19,   ///< the same if they are drawn from explicit distributions
  buffer_content = 20,   ///< weights, caches and tokens of a measured pass
  measuring_order = 30,  ///< what is timed first in a round
  bootstrap = 31,        ///< which shapes a bootstrap fit uses
  arrival = 40,          ///< when requests arrive
  prompt_length = 41,    ///< prompt lengths
  recording = 42,        ///< which recorded sequence a request replays
  estimate_errors = 43,  ///< errors of several estimates from one log, drawn together
  client_phase = 44,     ///< progress of each client's first request when a server starts
  test = 255,            ///< reserved for tests
};

/// Names one stream: 32 bits each for `point` and `block`; a larger value throws DomainError.
struct StreamId {
  Purpose purpose;
  std::uint64_t point;
  std::uint64_t block;
};

/// The four 32-bit words of a counter or of a draw.
using PhiloxWords = std::array<std::uint32_t, 4>;

/// Philox4x32-10 with this counter and key; the same words as Random123.
[[nodiscard]] PhiloxWords philox4x32_10(const PhiloxWords& counter, const std::array<std::uint32_t, 2>& key);

/// The counter of draw `index` of a stream. Throws DomainError when a field overflows its bits.
[[nodiscard]] PhiloxWords philox_counter(const StreamId& id, std::uint64_t index);

/// The key of a seed, low word first.
[[nodiscard]] constexpr std::array<std::uint32_t, 2> philox_key(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
}

/// Sequential reading of one stream. A UniformRandomBitGenerator, so Boost.Random distributions take it.
class RandomStream {
 public:
  using result_type = std::uint64_t;

  RandomStream(std::uint64_t seed, const StreamId& id);

  /// Next 32 uniform bits.
  [[nodiscard]] std::uint32_t next_u32();

  /// Next 64 uniform bits: two 32-bit words, low first. The two words never straddle a draw.
  [[nodiscard]] std::uint64_t next_u64();

  /// Uniform on [0, 1) with 53 bits.
  [[nodiscard]] double uniform() { return static_cast<double>(next_u64() >> 11U) * 0x1.0p-53; }

  /// Moves to the start of draw `index`.
  void seek(std::uint64_t index);

  std::uint64_t operator()() { return next_u64(); }
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return std::numeric_limits<std::uint64_t>::max(); }

 private:
  void refill();

  std::array<std::uint32_t, 2> key_;
  StreamId id_;
  std::uint64_t next_index_ = 0;
  PhiloxWords words_{};
  unsigned used_ = 4;
};

}  // namespace foredraft
