// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/digest.hpp"

// SHA-256 instead of that of OpenSSL, which has no package for WebAssembly: FIPS 180-4, 6.2.
namespace foredraft {
namespace {

constexpr std::size_t block_bytes = 64;

constexpr std::array<std::uint32_t, 64> constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using Words = std::array<std::uint32_t, 8>;
using Schedule = std::array<std::uint32_t, 16>;  ///< the newest words of the message schedule

/// Round I. The eight working variables keep their places: a, the first, moves down by one each round.
template <std::size_t I>
void add_round(Words& variables, Schedule& schedule) {
  const auto variable = [&](std::size_t place) -> std::uint32_t& { return variables[(64 - I + place) % 8]; };
  const std::uint32_t a = variable(0);
  const std::uint32_t b = variable(1);
  const std::uint32_t c = variable(2);
  const std::uint32_t e = variable(4);
  const std::uint32_t f = variable(5);
  const std::uint32_t g = variable(6);
  if constexpr (I >= std::tuple_size_v<Schedule>) {
    const std::uint32_t early = schedule[(I + 1) % 16];
    const std::uint32_t late = schedule[(I + 14) % 16];
    schedule[I % 16] += (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3U) + schedule[(I + 9) % 16] +
                        (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10U);
  }
  std::uint32_t& h = variable(7);
  h += (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + (g ^ (e & (f ^ g))) + constants[I] + schedule[I % 16];
  variable(3) += h;
  h += (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) | (c & (a | b)));
}

/// All rounds, unrolled: half as fast again as a loop over them.
template <std::size_t... I>
void add_rounds(Words& variables, Schedule& schedule, std::index_sequence<I...> /*rounds*/) {
  (add_round<I>(variables, schedule), ...);
}

struct State {
  Words words{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string unread;  ///< shorter than a block
  std::uint64_t bytes = 0;

  void add_block(const char* block) {
    Schedule schedule{};
    std::memcpy(schedule.data(), block, block_bytes);
    for (std::uint32_t& word : schedule) word = __builtin_bswap32(word);
    Words variables = words;
    add_rounds(variables, schedule, std::make_index_sequence<constants.size()>());
    for (std::size_t i = 0; i < words.size(); ++i) words[i] += variables[i];
  }
};

State& state_of(void* context) { return *static_cast<State*>(context); }

}  // namespace

void Sha256::Closer::operator()(void* context) const { delete static_cast<State*>(context); }

Sha256::Sha256() : context_(new State) {}

void Sha256::add(std::string_view bytes) {
  State& state = state_of(context_.get());
  state.bytes += bytes.size();
  if (!state.unread.empty()) {
    const std::string_view first = bytes.substr(0, block_bytes - state.unread.size());
    state.unread += first;
    bytes.remove_prefix(first.size());
    if (state.unread.size() < block_bytes) return;
    state.add_block(state.unread.data());
    state.unread.clear();
  }
  for (; bytes.size() >= block_bytes; bytes.remove_prefix(block_bytes)) state.add_block(bytes.data());
  state.unread = bytes;
}

std::string Sha256::finish() {
  State& state = state_of(context_.get());
  const std::uint64_t bits = 8 * state.bytes;
  std::string end = "\x80";
  end.append((2 * block_bytes - 9 - state.unread.size()) % block_bytes, '\0');
  for (unsigned shift = 64; shift > 0; shift -= 8) end += static_cast<char>(bits >> (shift - 8) & 0xffU);
  add(end);
  std::string text;
  for (const std::uint32_t word : state.words) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace foredraft
