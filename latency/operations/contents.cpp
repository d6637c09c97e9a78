// SPDX-License-Identifier: Apache-2.0
#include "latency/operations/contents.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foredraft::latency {
namespace {

/// A binary format: significant bits (the hidden one counted), exponent of the smallest subnormal, largest number.
struct StorageFormat {
  int precision;
  int smallest_exponent;
  double largest;
};

StorageFormat storage_format(DataType type) {
  switch (type) {
    case DataType::fp16:
      return {11, -24, 65504.0};
    case DataType::bf16:
      return {8, -133, 0x1.FEp127};
    case DataType::fp32:
      break;
  }
  return {24, -149, static_cast<double>(std::numeric_limits<float>::max())};
}

constexpr std::size_t words_per_draw = std::tuple_size_v<PhiloxWords>;

template <typename Make>
std::vector<double> content_from_words(const Buffer& buffer, std::uint64_t seed, Make make) {
  std::vector<double> values(static_cast<std::size_t>(buffer.elements));
  const StreamId stream{Purpose::buffer_content, content_point(buffer.name), 0};
  PhiloxWords words{};
  for (std::size_t element = 0; element < values.size(); ++element) {
    const std::size_t word = element % words_per_draw;
    if (word == 0) words = philox4x32_10(philox_counter(stream, element / words_per_draw), philox_key(seed));
    values[element] = make(words[word]);
  }
  return values;
}

std::vector<double> content_of(const Buffer& buffer, DataType type, std::uint64_t seed) {
  switch (buffer.kind) {
    case BufferKind::activation:
      break;
    case BufferKind::tokens:
      return content_from_words(buffer, seed, [&buffer](std::uint32_t word) {
        return static_cast<double>(token_from_word(word, buffer.vocabulary));
      });
    case BufferKind::weight:
    case BufferKind::cache:
    case BufferKind::input:
      return content_from_words(buffer, seed, [type, factor = content_factor(buffer.scale)](std::uint32_t word) {
        return rounded_to(static_cast<double>(static_cast<float>(bell_from_word(word)) * factor), type);
      });
  }
  return std::vector<double>(static_cast<std::size_t>(buffer.elements), std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

float content_factor(double scale) {
  constexpr double bell_variance = 21845.0;
  return static_cast<float>(scale / std::sqrt(bell_variance));
}

BufferContents initial_contents(const Program& program, DataType type, std::uint64_t seed) {
  BufferContents contents;
  for (const Buffer& buffer : program.buffers) contents.push_back(content_of(buffer, type, seed));
  return contents;
}

double rounded_to(double value, DataType type) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const StorageFormat format = storage_format(type);
  const int exponent = std::max(std::ilogb(value) - (format.precision - 1), format.smallest_exponent);
  const double rounded = std::scalbn(std::nearbyint(std::scalbn(value, -exponent)), exponent);
  return std::abs(rounded) > format.largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

}  // namespace foredraft::latency
