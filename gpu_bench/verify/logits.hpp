// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <stdexcept>
#include <string_view>

#include "gpu_bench/kernels/fill.hpp"

/// Synthetic logits for verification without a model. The cost of a verification hardly depends on them, but caches,
/// special values and data-dependent loop ends do.
namespace foredraft::gpu_bench {

/// A row of logits: bell-shaped with standard deviation `spread`, minus `zipf` times the logarithm of a token's rank,
/// plus `peak` for the row's first token.
struct LogitsProfile {
  std::string_view name;
  float spread;
  float zipf;
  bool peaked;  ///< the first token has a probability of about one half
};

inline constexpr LogitsProfile logits_profiles[] = {
    {.name = "real_like", .spread = 0.5F, .zipf = 1.2F, .peaked = false},  ///< a Zipf law, as for words, with noise
    {.name = "peaked", .spread = 1.5F, .zipf = 0.0F, .peaked = true},
    {.name = "flat", .spread = 0.1F, .zipf = 0.0F, .peaked = false},
};

/// Throws std::logic_error for any other name.
[[nodiscard]] inline const LogitsProfile& logits_profile(std::string_view name) {
  for (const LogitsProfile& profile : logits_profiles) {
    if (profile.name == name) return profile;
  }
  throw std::logic_error("unknown profile of logits");
}

/// Height of a peak of probability 1/2 over bells: the logarithm of the sum over all others.
[[nodiscard]] inline float peak_of(const LogitsProfile& profile, std::int64_t vocabulary) {
  if (!profile.peaked) return 0.0F;
  return static_cast<float>(std::log(static_cast<double>(vocabulary))) + profile.spread * profile.spread / 2.0F;
}

/// Shift of the order of tokens from one row to the next: a prime.
inline constexpr std::int64_t turn_of_rows = 7919;

/// Rank of a token in a row, 0 to vocabulary - 1: a separate permutation for each row, the same for target and drafter.
[[nodiscard]] FOREDRAFT_HOST_DEVICE constexpr std::int64_t rank_in_row(std::int64_t token, std::int64_t row,
                                                                       std::int64_t vocabulary) {
  constexpr std::int64_t stride = 1'000'003;  // a prime above most vocabularies, so it divides few
  return (token + row * turn_of_rows) % vocabulary * (stride % vocabulary == 0 ? 1 : stride) % vocabulary;
}

/// The token of rank 0.
[[nodiscard]] FOREDRAFT_HOST_DEVICE constexpr std::int64_t first_token(std::int64_t row, std::int64_t vocabulary) {
  return (vocabulary - row * turn_of_rows % vocabulary) % vocabulary;
}

/// Of rows of one position each: `rows_per_request` of a request, of which row i has the same ranks as row i of the
/// same request in every other buffer.
template <class Storage>
struct LogitElement {
  Storage* out;
  std::int64_t rows_per_request;
  std::int64_t vocabulary;
  float spread;
  float zipf;
  float peak;

  FOREDRAFT_HOST_DEVICE void operator()(std::int64_t i, std::uint32_t word) const {
    constexpr float bell_deviation = 147.8F;
    const std::int64_t row = i / vocabulary;
    const std::int64_t rank = rank_in_row(i % vocabulary, row % rows_per_request, vocabulary);
    float logit = static_cast<float>(latency::bell_from_word(word)) * (spread / bell_deviation);
    logit -= zipf * std::log(static_cast<float>(rank + 1));
    if (rank == 0) logit += peak;
    out[i] = from_float<Storage>(logit);
  }
};

/// Fills a buffer of rows.
template <class Storage>
[[nodiscard]] FillKernel<LogitElement<Storage>> logits_kernel(const LogitsProfile& profile, const char* buffer_name,
                                                              void* out, std::int64_t rows,
                                                              std::int64_t rows_per_request, std::int64_t vocabulary,
                                                              std::uint64_t seed) {
  const latency::Buffer buffer{buffer_name, latency::BufferKind::weight, rows * vocabulary, 1.0, 0};
  return {.stream = content_stream(buffer, seed),
          .elements = buffer.elements,
          .element = {.out = static_cast<Storage*>(out),
                      .rows_per_request = rows_per_request,
                      .vocabulary = vocabulary,
                      .spread = profile.spread,
                      .zipf = profile.zipf,
                      .peak = peak_of(profile, vocabulary)}};
}

/// Drafts that are the first tokens of their rows, with full counts. In the tree (launch_verifier.hpp) the first child
/// of a node has the first token of its row.
struct DraftsKernel {
  static constexpr unsigned max_threads = 256;

  std::int32_t* drafts;        ///< [batch, gamma]
  std::int32_t* node_tokens;   ///< [batch, gamma + 1]: of the tree with the same drafts
  std::int32_t* draft_counts;  ///< [batch]
  std::int64_t batch;
  std::int64_t gamma;
  std::int64_t vocabulary;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = static_cast<unsigned>(batch), .threads = threads, .shared_bytes = 0};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const std::int64_t request = block.block();
    for (std::int64_t i = block.thread(); i < gamma; i += block.threads()) {
      drafts[request * gamma + i] = static_cast<std::int32_t>(first_token(i, vocabulary));
      const std::int64_t of_parent = first_token(i / 2, vocabulary) + i % 2;
      node_tokens[request * (gamma + 1) + i + 1] = static_cast<std::int32_t>(of_parent % vocabulary);
    }
    if (block.thread() != 0) return;
    node_tokens[request * (gamma + 1)] = 0;
    draft_counts[request] = static_cast<std::int32_t>(gamma);
  }
};

}  // namespace foredraft::gpu_bench
