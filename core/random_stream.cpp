// SPDX-License-Identifier: Apache-2.0
#include "core/random_stream.hpp"

#include <Random123/philox.h>
#include <fmt/format.h>

#include "foredraft/errors.hpp"

namespace foredraft {
namespace {

constexpr unsigned draw_high_bits = 24;

void check_field(const char* name, std::uint64_t value, unsigned bits) {
  if (value >> bits != 0) {
    throw DomainError(fmt::format("invalid {}={} (must fit {} bits of the random counter)", name, value, bits));
  }
}

}  // namespace

PhiloxWords philox4x32_10(const PhiloxWords& counter, const std::array<std::uint32_t, 2>& key) {
  const r123::Philox4x32 generator;
  const r123::Philox4x32::ctr_type words =
      generator({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
  return {words[0], words[1], words[2], words[3]};
}

PhiloxWords philox_counter(const StreamId& id, std::uint64_t index) {
  check_field("block", id.block, 32);
  check_field("point", id.point, 32);
  check_field("draw index", index, 32 + draw_high_bits);
  return {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(id.block), static_cast<std::uint32_t>(id.point),
          static_cast<std::uint32_t>(id.purpose) << draw_high_bits | static_cast<std::uint32_t>(index >> 32U)};
}

RandomStream::RandomStream(std::uint64_t seed, const StreamId& id) : key_(philox_key(seed)), id_(id) {
  static_cast<void>(philox_counter(id, 0));  // report an overflow here, not at the first draw
}

void RandomStream::refill() {
  words_ = philox4x32_10(philox_counter(id_, next_index_), key_);
  ++next_index_;
  used_ = 0;
}

std::uint32_t RandomStream::next_u32() {
  if (used_ == words_.size()) refill();
  return words_[used_++];
}

std::uint64_t RandomStream::next_u64() {
  if (used_ > 2) refill();
  if (used_ == 1) ++used_;
  const std::uint64_t low = words_[used_];
  const std::uint64_t high = words_[used_ + 1];
  used_ += 2;
  return high << 32U | low;
}

void RandomStream::seek(std::uint64_t index) {
  next_index_ = index;
  used_ = static_cast<unsigned>(words_.size());
}

}  // namespace foredraft
