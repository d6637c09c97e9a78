// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "latency/operations/forward_passes.hpp"
#include "latency/operations/reference.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"

namespace foredraft::latency {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Program one_buffer(Buffer buffer) { return {{std::move(buffer)}, {}, 0}; }

}  // namespace

TEST_CASE("values round to nearest in fp16, ties to the even one") {
  CHECK(rounded_to(1.0 + 0x1.0p-11, DataType::fp16) == 1.0);
  CHECK(rounded_to(1.0 + 0x3.0p-11, DataType::fp16) == 1.0 + 0x1.0p-9);
  CHECK(rounded_to(1.0 + 0x1.8p-11, DataType::fp16) == 1.0 + 0x1.0p-10);
  CHECK(rounded_to(-2049.0, DataType::fp16) == -2048.0);
  CHECK(rounded_to(-2051.0, DataType::fp16) == -2052.0);
}

TEST_CASE("subnormals of fp16 keep their fixed step, and halves of the smallest go to zero") {
  CHECK(rounded_to(0x1.0p-24, DataType::fp16) == 0x1.0p-24);
  CHECK(rounded_to(0x1.0p-25, DataType::fp16) == 0.0);
  CHECK(rounded_to(0x1.8p-24, DataType::fp16) == 0x1.0p-23);
  CHECK(rounded_to(0x1.004p-14, DataType::fp16) == 0x1.004p-14);
  CHECK(rounded_to(0x1.002p-15, DataType::fp16) == 0x1.0p-15);
}

TEST_CASE("beyond the largest number of a type lies infinity") {
  CHECK(rounded_to(65519.0, DataType::fp16) == 65504.0);
  CHECK(rounded_to(65520.0, DataType::fp16) == infinity);
  CHECK(rounded_to(-1e9, DataType::fp16) == -infinity);
  CHECK(rounded_to(0x1.FEFFp127, DataType::bf16) == 0x1.FEp127);
  CHECK(rounded_to(0x1.FFp127, DataType::bf16) == infinity);
  CHECK(rounded_to(1e39, DataType::fp32) == infinity);
}

TEST_CASE("bf16 has eight bits, fp32 is the machine's float") {
  CHECK(rounded_to(1.0 + 0x1.0p-8, DataType::bf16) == 1.0);
  CHECK(rounded_to(1.0 + 0x3.0p-8, DataType::bf16) == 1.0 + 0x1.0p-6);
  CHECK(rounded_to(0x1.0p-133, DataType::bf16) == 0x1.0p-133);
  for (const double value : {0.1, 1.0 / 3.0, 1e-40, -7e37, 0x1.0p-149, 0x1.0p-151}) {
    CHECK(rounded_to(value, DataType::fp32) == static_cast<double>(static_cast<float>(value)));
  }
  CHECK(std::isnan(rounded_to(std::nan(""), DataType::bf16)));
}

TEST_CASE("contents are a function of seed, name and element only") {
  const Buffer small{"layer 0 down", BufferKind::weight, 5, 0.5, 0};
  Buffer large = small;
  large.elements = 50;
  Buffer other = small;
  other.name = "layer 1 down";
  const auto contents = [](const Buffer& buffer, std::uint64_t seed) {
    return initial_contents(one_buffer(buffer), DataType::fp32, seed).front();
  };
  const std::vector<double> first = contents(small, 7);
  const std::vector<double> longer = contents(large, 7);
  CHECK(std::equal(first.begin(), first.end(), longer.begin()));
  CHECK(contents(other, 7) != first);
  CHECK(contents(small, 8) != first);
}

TEST_CASE("an element uses its own word of its own draw") {
  const Buffer buffer{"b", BufferKind::weight, 7, 2.0, 0};
  const std::vector<double> values = initial_contents(one_buffer(buffer), DataType::bf16, 3).front();
  const PhiloxWords words = philox4x32_10({1, 0, content_point("b"), 20U << 24U}, {3, 0});
  const float bell = static_cast<float>(bell_from_word(words[2]));
  CHECK(values[6] == rounded_to(static_cast<double>(bell * content_factor(2.0)), DataType::bf16));
  // 32-bit FNV-1a as its authors list it.
  CHECK(content_point("") == 0x811C9DC5U);
  CHECK(content_point("a") == 0xE40C292CU);
  CHECK(bell_from_word(0) == -510);
  CHECK(bell_from_word(0x01020304U) == -500);
  CHECK(bell_from_word(0xFFFFFFFFU) == 510);
}

TEST_CASE("weights have mean 0 and the deviation asked for, tokens lie below their vocabulary") {
  constexpr std::int64_t count = 100'000;
  const std::vector<double> values =
      initial_contents(one_buffer({"w", BufferKind::weight, count, 0.25, 0}), DataType::fp32, 1).front();
  double sum = 0.0;
  double squares = 0.0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  // Five standard errors of the mean and of the variance (kurtosis 2.7) of 100,000 draws.
  CHECK(std::abs(sum / count) < 5.0 * 0.25 / std::sqrt(static_cast<double>(count)));
  CHECK(std::abs(squares / count / 0.0625 - 1.0) < 5.0 * std::sqrt(1.7 / static_cast<double>(count)));

  const std::vector<double> tokens =
      initial_contents(one_buffer({"t", BufferKind::tokens, count, 0.0, 3}), DataType::fp16, 1).front();
  for (const double token : {0.0, 1.0, 2.0}) {
    const auto hits = static_cast<double>(std::count(tokens.begin(), tokens.end(), token));
    CHECK(std::abs(hits / count - 1.0 / 3.0) < 5.0 * std::sqrt(2.0 / 9.0 / static_cast<double>(count)));
  }
}

TEST_CASE("activations are poisoned, weights and caches never hold a NaN") {
  const Program program = decoder_pass(tests::tiny_encoder_decoder(), {.tokens = 2, .batch = 2, .context = 3});
  const BufferContents contents = initial_contents(program, DataType::fp16, 5);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const bool poisoned = program.buffers[i].kind == BufferKind::activation;
    for (const double value : contents[i]) CHECK(std::isnan(value) == poisoned);
  }
}

}  // namespace foredraft::latency
