// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "latency/words.hpp"

/// A point of the cost surface: a forward pass of a model at one size.
namespace foredraft::latency {

/// The kind of pass, named as in operations/forward_passes.hpp. Decoder passes of drafter and target are the same, so
/// they are measured once for all pairs.
enum class Role { decoder_pass, autoregressive_drafting, block_drafting, head_drafting, encoder_pass };
enum class Cache { hot, cold };      ///< hot: the same buffers each time; cold: rotating buffers that exceed the L2
enum class Launch { graph, eager };  ///< graph: replay of a captured graph; eager: individual launches

template <>
struct WordsOf<Role> {
  static constexpr std::array<std::string_view, 5> list{"decoder_pass", "autoregressive_drafting", "block_drafting",
                                                        "head_drafting", "encoder_pass"};
};
template <>
struct WordsOf<Cache> {
  static constexpr std::array<std::string_view, 2> list{"hot", "cold"};
};
template <>
struct WordsOf<Launch> {
  static constexpr std::array<std::string_view, 2> list{"graph", "eager"};
};

struct Cell {
  std::string model;  ///< name of a shape
  Role role = Role::decoder_pass;
  std::string dtype;               ///< "fp16", "bf16", "fp32"
  std::int64_t batch = 1;          ///< sequences
  std::int64_t tokens = 1;         ///< new tokens per sequence; drafting: gamma; encoder: 0
  std::int64_t context = 0;        ///< tokens per sequence that are already in the KV cache
  std::int64_t source_length = 0;  ///< encoder positions; 0 without an encoder
  Cache cache = Cache::cold;
  Launch launch = Launch::graph;

  auto operator<=>(const Cell&) const = default;
};

/// "qwen1.5-7b decoder_pass fp16 batch 1 tokens 6 context 512 cold graph": the cell in messages and lists.
[[nodiscard]] std::string to_text(const Cell& cell);

/// A value as a CSV cell: the word of an enumeration (`to_string`), a number in shortest round-trip form, empty for no
/// value.
template <typename T>
std::string cell_text(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(to_string(value));
  } else if constexpr (std::same_as<T, std::optional<double>>) {
    return value ? fmt::format("{}", *value) : "";
  } else {
    return fmt::format("{}", value);
  }
}

/// A timed verification step.
struct VerificationCell {
  std::string verifier;
  std::string dtype;  ///< type of the logits
  std::int64_t batch = 1;
  std::int64_t gamma = 5;  ///< drafts per request
  std::int64_t vocabulary = 1;
  std::string logits;  ///< kind of logits: "real_like", "peaked", "flat"
  Cache cache = Cache::cold;
  Launch launch = Launch::graph;

  auto operator<=>(const VerificationCell&) const = default;
};

/// "fused_exact fp16 batch 1 gamma 5 vocabulary 32000 peaked cold graph"
[[nodiscard]] std::string to_text(const VerificationCell& cell);

}  // namespace foredraft::latency
