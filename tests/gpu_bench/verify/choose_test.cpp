// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/verify/choose.hpp"

#include "tests/gpu_bench/kernels/kernel_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

Choice choice_of(const std::vector<float>& weights, double threshold) {
  return choose(static_cast<unsigned>(weights.size()), threshold, [&](unsigned i) { return weights[i]; });
}

/// The result of choose_in_chunk() in every thread of a block, and the chunk's sum.
struct InChunk {
  unsigned token;
  float sum;
};

InChunk in_chunk(const std::vector<float>& row, double threshold, unsigned threads, HostOrder order) {
  InChunk result{};
  run_blocks(
      {.blocks = 1, .threads = threads, .shared_bytes = (chunk_tokens + warp_lanes) * sizeof(float)},
      [&](HostBlock& block) {
        float weights[pack_elements];
        load_padded<1>(row.data(), block.thread() % warp_lanes * pack_elements, static_cast<unsigned>(row.size()), 0.0F,
                       weights);
        const float sum = chunk_sum(block, weights);
        const unsigned token = choose_in_chunk(block, weights, threshold, reinterpret_cast<float*>(block.shared()));
        if (block.thread() == 0) result = {token, sum};
      },
      order);
  return result;
}

}  // namespace

TEST_CASE("a threshold chooses the weight that it falls on, and keeps the distance into it") {
  const std::vector<float> weights{0.0F, 0.25F, 0.0F, 0.5F, 0.25F, 0.0F};
  CHECK(choice_of(weights, 0.0).index == 1);
  CHECK(choice_of(weights, 0.2499).index == 1);
  CHECK(choice_of(weights, 0.25).index == 3);
  CHECK(choice_of(weights, 0.5).index == 3);
  CHECK(choice_of(weights, 0.5).rest == 0.25);
  CHECK(choice_of(weights, 0.75).index == 4);
}

TEST_CASE("rounding never chooses a weight of 0: beyond the end the last nonzero one, the first if all are 0") {
  CHECK(choice_of({0.0F, 0.25F, 0.5F, 0.0F}, 0.75).index == 2);
  CHECK(choice_of({0.0F, 0.25F, 0.5F, 0.0F}, 9.0).index == 2);
  CHECK(choice_of({0.0F, 0.0F}, 0.0).index == 0);
  CHECK(choice_of({0.0F, 0.0F}, 1.0).index == 0);
}

TEST_CASE("a threshold chooses the token of the plain cumulative sum in a chunk of any length") {
  for (const std::size_t size : {1U, 7U, 32U, 200U, 256U}) {
    std::vector<float> row = random_values<float>(size, static_cast<std::uint32_t>(size));
    row[0] = 0.5F;
    for (float& weight : row) weight = std::max(0.0F, std::round(64.0F * weight));  // sums are exact
    double total = 0.0;
    for (const float weight : row) total += static_cast<double>(weight);
    for (const double share : {0.0, 0.3, 0.5, 0.999}) {
      const auto want = choice_of(row, share * total).index;
      for (const HostOrder order : {HostOrder::forward, HostOrder::reversed, HostOrder::shuffled}) {
        const InChunk got = in_chunk(row, share * total, 64, order);
        CHECK(got.token == want);
        CHECK(static_cast<double>(got.sum) == total);
      }
    }
  }
}

TEST_CASE("a lane reads its tokens of a chunk in packs or one by one, and nothing beyond the row's end") {
  const auto row = random_values<Half>(24, 3);
  for (const unsigned begin : {0U, 16U, 24U}) {
    float packed[pack_elements];
    float single[pack_elements];
    load_padded<pack_elements>(row.data(), begin, 24, -7.0F, packed);
    load_padded<1>(row.data(), begin, 24, -7.0F, single);
    for (unsigned j = 0; j < pack_elements; ++j) {
      CHECK(packed[j] == single[j]);
      CHECK(packed[j] == (begin + j < 24 ? to_float(row[begin + j]) : -7.0F));
    }
  }
  float part[pack_elements];
  load_padded<1>(row.data(), 8, 11, -7.0F, part);
  CHECK(part[2] == to_float(row[10]));
  CHECK(part[3] == -7.0F);
}

}  // namespace foredraft::gpu_bench::tests
