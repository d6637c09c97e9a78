// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

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

struct State {
  std::array<std::uint32_t, 8> words{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string unread;  ///< shorter than a block
  std::uint64_t bytes = 0;

  void add_block(const char* block) {
    std::array<std::uint32_t, 64> schedule{};
    std::memcpy(schedule.data(), block, block_bytes);
    for (std::size_t i = 0; i < 16; ++i) schedule[i] = __builtin_bswap32(schedule[i]);
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = schedule[i - 15];
      const std::uint32_t b = schedule[i - 2];
      schedule[i] = schedule[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3U) + schedule[i - 7] +
                    (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10U);
    }
    auto [a, b, c, d, e, f, g, h] = words;
    std::size_t i = 0;
    const auto round = [&](auto a, auto b, auto c, auto& d, auto e, auto f, auto g, auto& h) {
      h += (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + schedule[i];
      ++i;
      d += h;
      h += (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    };
    while (i < schedule.size()) {
      round(a, b, c, d, e, f, g, h);
      round(h, a, b, c, d, e, f, g);
      round(g, h, a, b, c, d, e, f);
      round(f, g, h, a, b, c, d, e);
      round(e, f, g, h, a, b, c, d);
      round(d, e, f, g, h, a, b, c);
      round(c, d, e, f, g, h, a, b);
      round(b, c, d, e, f, g, h, a);
    }
    const std::array added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) words[i] += added[i];
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
