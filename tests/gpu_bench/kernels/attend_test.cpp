// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/attend_tiles.hpp"

#include <algorithm>

#include "tests/gpu_bench/kernels/kernel_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

struct Case {
  unsigned batch, tokens, length, capacity, heads, kv_heads, head_dim;
  bool causal;
};

template <class Storage>
struct AttendData {
  Case shape;
  std::vector<Storage> queries;  ///< packed: rows hold one element more than the heads
  std::vector<Storage> keys;
  std::vector<Storage> values;

  [[nodiscard]] std::size_t stride() const { return shape.heads * shape.head_dim + pack_elements; }

  explicit AttendData(const Case& c)
      : shape(c),
        queries(random_values<Storage>(c.batch * c.tokens * stride(), 1)),
        keys(random_values<Storage>(static_cast<std::size_t>(c.batch) * c.capacity * c.kv_heads * c.head_dim, 2)),
        values(random_values<Storage>(keys.size(), 3)) {
    // Larger scores than those of unit vectors, so that the softmax is far from flat.
    for (Storage& query : queries) query = from_float<Storage>(4.0F * to_float(query));
  }
};

/// What the kernel that make(call) returns writes. `partial_floats`: of each of its blocks.
template <class Storage, class Make>
std::vector<Storage> output_of(const AttendData<Storage>& data, unsigned tile_rows, unsigned splits,
                               std::size_t partial_floats, HostOrder order, const Make& make) {
  const Case& c = data.shape;
  auto out = poisoned<Storage>(static_cast<std::size_t>(c.batch) * c.tokens * c.heads * c.head_dim);
  AttendCall<Storage> call{
      .queries = data.queries.data(),
      .keys = data.keys.data(),
      .values = data.values.data(),
      .out = out.data(),
      .partials = nullptr,
      .counters = nullptr,
      .batch = c.batch,
      .tokens = c.tokens,
      .length = c.length,
      .capacity = c.capacity,
      .kv_heads = c.kv_heads,
      .group_heads = c.heads / c.kv_heads,
      .tiles = divide_up(c.tokens * (c.heads / c.kv_heads), tile_rows),
      .head_dim = c.head_dim,
      .query_stride = static_cast<std::int64_t>(data.stride()),
      .causal = c.causal,
      .splits = splits,
      .keys_a_split = divide_up(c.length, splits),
      .log2_scale = static_cast<float>(std::log2(std::exp(1.0)) / std::sqrt(static_cast<double>(c.head_dim)))};
  std::vector<float> partials(call.blocks() * partial_floats, std::nanf(""));
  std::vector<std::uint32_t> counters(call.blocks() / splits, 0);
  call.partials = partials.data();
  call.counters = counters.data();
  run_on_host(make(call), order);
  CHECK(counters == std::vector<std::uint32_t>(counters.size(), 0));
  return out;
}

template <class Storage, unsigned width, unsigned tile_rows>
std::vector<Storage> attended(const AttendData<Storage>& data, unsigned splits, unsigned threads,
                              HostOrder order = HostOrder::forward) {
  const unsigned lanes_log2 = attend_lanes_log2(data.shape.head_dim);
  return output_of(data, tile_rows, splits, attend_partial_floats(tile_rows, lanes_log2), order,
                   [&](const AttendCall<Storage>& call) {
                     return AttendKernel<Storage, width, tile_rows>{
                         .call = call, .lanes_log2 = lanes_log2, .threads = threads};
                   });
}

template <class Storage, unsigned head_dim, unsigned row_tiles>
std::vector<Storage> attended_in_tiles(const AttendData<Storage>& data, unsigned splits,
                                       HostOrder order = HostOrder::forward) {
  return output_of(
      data, row_tiles * matrix_rows, splits, attend_tiles_partial_floats(row_tiles, head_dim), order,
      [](const AttendCall<Storage>& call) { return AttendTilesKernel<Storage, head_dim, row_tiles>{.call = call}; });
}

/// softmax(q k / sqrt(d)) v, term by term.
template <class Storage>
std::vector<double> by_definition(const AttendData<Storage>& data) {
  const Case& c = data.shape;
  const auto queries = as_doubles(data.queries);
  const auto keys = as_doubles(data.keys);
  const auto values = as_doubles(data.values);
  std::vector<double> out;
  for (std::size_t row = 0; row < std::size_t{c.batch} * c.tokens; ++row) {
    const std::size_t visible = c.causal ? c.length - c.tokens + row % c.tokens + 1 : c.length;
    for (std::size_t head = 0; head < c.heads; ++head) {
      const auto at = [&](std::size_t key) {
        return ((row / c.tokens * c.capacity + key) * c.kv_heads + head / (c.heads / c.kv_heads)) * c.head_dim;
      };
      std::vector<double> scores(visible, 0.0);
      for (std::size_t key = 0; key < visible; ++key) {
        for (std::size_t i = 0; i < c.head_dim; ++i) {
          scores[key] += queries[row * data.stride() + head * c.head_dim + i] * keys[at(key) + i];
        }
        scores[key] /= std::sqrt(static_cast<double>(c.head_dim));
      }
      const double top = *std::max_element(scores.begin(), scores.end());
      double total = 0.0;
      for (double& score : scores) total += score = std::exp(score - top);
      for (std::size_t i = 0; i < c.head_dim; ++i) {
        double sum = 0.0;
        for (std::size_t key = 0; key < visible; ++key) sum += scores[key] / total * values[at(key) + i];
        out.push_back(sum);
      }
    }
  }
  return out;
}

// The exponent of a weight is off by a few roundings of scores up to about 20.
constexpr double size_of_terms = 20.0;

constexpr Case cases[] = {
    {1, 1, 1, 1, 1, 1, 1, true},     // one key: its value
    {2, 1, 37, 41, 3, 3, 24, true},  // decoding
    {1, 5, 37, 50, 4, 2, 17, true},  // verification with grouped heads, odd head size
    {2, 3, 9, 9, 2, 1, 64, false},   // every query sees all
    {1, 9, 9, 9, 1, 1, 40, true},    // no context: the first query sees one key
};

}  // namespace

TEMPLATE_TEST_CASE("attention is the softmax of its definition for odd sizes, tiles, splits and blocks", "", Half,
                   Bfloat16, float) {
  for (const Case& c : cases) {
    const AttendData<TestType> data(c);
    const std::vector<double> want = by_definition(data);
    for (const unsigned splits : {1U, 3U}) {
      for (const unsigned threads : {32U, 128U}) {
        INFO(c.tokens << " tokens, " << c.length << " keys, head_dim " << c.head_dim << ", " << splits << " splits, "
                      << threads << " threads");
        check_close(attended<TestType, 1, 1>(data, splits, threads), want, size_of_terms);
        check_close(attended<TestType, 1, 4>(data, splits, threads), want, size_of_terms);
        if (c.head_dim % pack_elements == 0) {
          check_close(attended<TestType, pack_elements, 8>(data, splits, threads), want, size_of_terms);
        }
      }
    }
  }
}

TEST_CASE("attention with the largest head uses a warp per key") {
  const AttendData<Half> data({1, 2, 19, 19, 2, 1, 256, true});
  check_close(attended<Half, pack_elements, 4>(data, 2, 64), by_definition(data), size_of_terms);
}

TEST_CASE("attention covers many chunks and splits, some of them without a visible key") {
  const auto splits = GENERATE(1U, 2U, 12U, 40U, 80U);  // 80 splits of 4 keys: the last have none
  INFO(splits << " splits");
  const AttendData<Half> grouped({2, 11, 301, 310, 6, 3, 128, true});  // 22 rows: the last tile is not full
  const auto want = by_definition(grouped);
  check_close(attended<Half, pack_elements, 8>(grouped, splits, 128), want, size_of_terms);
  check_close(attended<Half, pack_elements, 4>(grouped, splits, 64), want, size_of_terms);
  const AttendData<Half> single({1, 1, 301, 301, 2, 2, 64, true});
  check_close(attended<Half, pack_elements, 1>(single, splits, 128), by_definition(single), size_of_terms);
}

TEST_CASE("attention has the same bits in every order of blocks and threads") {
  const AttendData<Half> data({2, 3, 45, 50, 4, 2, 24, true});
  const auto forward = attended<Half, pack_elements, 4>(data, 3, 64);
  CHECK(same_bits(forward, attended<Half, pack_elements, 4>(data, 3, 64, HostOrder::reversed)));
  CHECK(same_bits(forward, attended<Half, pack_elements, 4>(data, 3, 64, HostOrder::shuffled)));
  const AttendData<Half> longer({1, 9, 190, 190, 2, 1, 128, true});
  const auto of_longer = attended<Half, pack_elements, 8>(longer, 2, 128);
  CHECK(same_bits(of_longer, attended<Half, pack_elements, 8>(longer, 2, 128, HostOrder::reversed)));
  CHECK(same_bits(of_longer, attended<Half, pack_elements, 8>(longer, 2, 128, HostOrder::shuffled)));
}

TEMPLATE_TEST_CASE("attention on matrix units is the softmax of its definition, and the same in every order", "", Half,
                   Bfloat16) {
  const unsigned splits = GENERATE(1U, 3U, 14U);  // 14 splits of 10 keys: the last have none that is visible
  INFO(splits << " splits");
  const AttendData<TestType> few({2, 3, 133, 140, 4, 2, 64, true});     // 6 rows of 16
  const AttendData<TestType> more({1, 9, 133, 133, 3, 1, 64, false});   // 27 rows of 32
  const AttendData<TestType> many({1, 33, 133, 133, 2, 1, 128, true});  // 66 rows: the second tile holds 2
  constexpr double of_weights = one_rounding<TestType>;                 // they sum to 1, and values are below 1
  check_close(attended_in_tiles<TestType, 64, 1>(few, splits), by_definition(few), size_of_terms, of_weights);
  check_close(attended_in_tiles<TestType, 64, 2>(more, splits), by_definition(more), size_of_terms, of_weights);
  const auto of_many = attended_in_tiles<TestType, 128, 4>(many, splits);
  check_close(of_many, by_definition(many), size_of_terms, of_weights);
  CHECK(same_bits(of_many, attended_in_tiles<TestType, 128, 4>(many, splits, HostOrder::reversed)));
  CHECK(same_bits(of_many, attended_in_tiles<TestType, 128, 4>(many, splits, HostOrder::shuffled)));
}

TEST_CASE("keys beyond the length, and under a causal mask later ones, do not change the answer") {
  const AttendData<float> data({1, 3, 20, 30, 2, 2, 16, true});
  AttendData<float> changed = data;
  for (std::size_t i = 18 * 2 * 16; i < changed.keys.size(); ++i) changed.keys[i] = changed.values[i] = 1e6F;
  const auto before = attended<float, pack_elements, 4>(data, 2, 64);
  const auto after = attended<float, pack_elements, 4>(changed, 2, 64);
  const std::ptrdiff_t first_token = 2 * 16;  // sees 18 keys
  CHECK(std::equal(before.begin(), before.begin() + first_token, after.begin()));
  CHECK_FALSE(std::equal(before.begin() + first_token, before.end(), after.begin() + first_token));
}

}  // namespace foredraft::gpu_bench::tests
