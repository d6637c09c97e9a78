// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/kernels/elementwise.hpp"
#include "tests/gpu_bench/kernels/kernel_support.hpp"

namespace foredraft::gpu_bench::tests {
namespace {

constexpr unsigned row_count = 3;
constexpr unsigned block_sizes[] = {32, 96, 256};

/// Calls check(width of access) for scalars and, where the size allows it, packs.
template <class Check>
void for_each_access(unsigned size, const Check& check) {
  check(std::integral_constant<unsigned, 1>{});
  if (size % pack_elements == 0) check(std::integral_constant<unsigned, pack_elements>{});
}

}  // namespace

TEMPLATE_TEST_CASE("an embedding is the token's row, plus the position's row if there is a table of them", "", Half,
                   Bfloat16, float) {
  constexpr unsigned vocabulary = 11;
  const std::vector<std::int32_t> tokens{10, 0, 7, 7, 3, 1};
  for (const unsigned width : {5U, 40U}) {
    const auto table = random_values<TestType>(vocabulary * width, 1);
    const auto positions = random_values<TestType>(9 * width, 2);
    for (const bool with_positions : {false, true}) {
      std::vector<double> want;
      for (std::size_t row = 0; row < tokens.size(); ++row) {
        for (std::size_t i = 0; i < width; ++i) {
          const double shift =
              with_positions ? static_cast<double>(to_float(positions[(4 + row % 3) * width + i])) : 0.0;
          want.push_back(static_cast<double>(to_float(table[static_cast<std::size_t>(tokens[row]) * width + i])) +
                         shift);
        }
      }
      for_each_access(width, [&](auto access) {
        for (const unsigned threads : block_sizes) {
          auto out = poisoned<TestType>(tokens.size() * width);
          run_on_host(EmbedKernel<TestType, access()>{.tokens = tokens.data(),
                                                      .table = table.data(),
                                                      .positions = with_positions ? positions.data() : nullptr,
                                                      .out = out.data(),
                                                      .rows = static_cast<unsigned>(tokens.size()),
                                                      .width = width,
                                                      .tokens_per_sequence = 3,
                                                      .first_position = 4,
                                                      .threads = threads});
          check_close(out, want, 1.0);
        }
      });
    }
  }
}

TEMPLATE_TEST_CASE("a sum is normalized by its root mean square or its mean and deviation, and left in the stream", "",
                   Half, Bfloat16, float) {
  constexpr float epsilon = 1e-6F;
  for (const unsigned width : {3U, 77U, 320U}) {
    const auto stream = random_values<TestType>(row_count * width, 1);
    const auto delta = random_values<TestType>(row_count * width, 2);
    const auto gain = random_values<TestType>(width, 3);
    const auto bias = random_values<TestType>(width, 4);
    for (const int variant : {0, 1, 2, 3}) {
      const bool layer = variant % 2 == 1;
      const bool with_delta = variant >= 2;
      const bool with_bias = layer;
      std::vector<double> sums = as_doubles(stream);
      std::vector<double> want;
      for (std::size_t row = 0; row < row_count; ++row) {
        double mean = 0.0;
        double square = 0.0;
        for (std::size_t i = 0; i < width; ++i) {
          double& sum = sums[row * width + i];
          if (with_delta) sum += static_cast<double>(to_float(delta[row * width + i]));
          mean += layer ? sum / width : 0.0;
        }
        for (std::size_t i = 0; i < width; ++i) square += std::pow(sums[row * width + i] - mean, 2) / width;
        for (std::size_t i = 0; i < width; ++i) {
          const double normal = (sums[row * width + i] - mean) / std::sqrt(square + static_cast<double>(epsilon));
          want.push_back(normal * static_cast<double>(to_float(gain[i])) +
                         (with_bias ? static_cast<double>(to_float(bias[i])) : 0.0));
        }
      }
      for_each_access(width, [&](auto access) {
        for (const unsigned threads : block_sizes) {
          INFO("width " << width << ", variant " << variant << ", " << threads << " threads");
          std::vector<TestType> after[2] = {stream, stream};
          std::vector<TestType> out[2];
          for (const int reversed : {0, 1}) {
            out[reversed] = poisoned<TestType>(stream.size());
            run_on_host(AddNormaliseKernel<TestType, access()>{.stream = after[reversed].data(),
                                                               .delta = with_delta ? delta.data() : nullptr,
                                                               .gain = gain.data(),
                                                               .bias = with_bias ? bias.data() : nullptr,
                                                               .out = out[reversed].data(),
                                                               .rows = row_count,
                                                               .width = width,
                                                               .epsilon = epsilon,
                                                               .subtract_mean = layer,
                                                               .threads = threads},
                        reversed == 1 ? HostOrder::reversed : HostOrder::forward);
          }
          check_close(after[0], sums, 1.0);
          check_close(out[0], want, 10.0);  // normalized values of up to some units
          CHECK(same_bits(out[0], out[1]));
        }
      });
    }
  }
}

TEMPLATE_TEST_CASE("each head of queries and keys is normalized with its gain, and values stay", "", Half, Bfloat16,
                   float) {
  constexpr unsigned heads = 4;
  constexpr unsigned kv_heads = 2;
  constexpr float epsilon = 1e-6F;
  for (const unsigned head_dim : {5U, 32U, 77U, 320U}) {
    const auto packed = random_values<TestType>(std::size_t{row_count} * (heads + 2 * kv_heads) * head_dim, 1);
    const auto query_gain = random_values<TestType>(head_dim, 2);
    const auto key_gain = random_values<TestType>(head_dim, 3);
    std::vector<double> want = as_doubles(packed);
    for (std::size_t head = 0; head < row_count * (heads + 2 * kv_heads); ++head) {
      const std::size_t place = head % (heads + 2 * kv_heads);
      if (place >= heads + kv_heads) continue;
      double square = 0.0;
      for (std::size_t i = 0; i < head_dim; ++i) square += std::pow(want[head * head_dim + i], 2) / head_dim;
      for (std::size_t i = 0; i < head_dim; ++i) {
        want[head * head_dim + i] *= static_cast<double>(to_float((place < heads ? query_gain : key_gain)[i])) /
                                     std::sqrt(square + static_cast<double>(epsilon));
      }
    }
    for_each_access(head_dim, [&](auto access) {
      for (const unsigned threads : block_sizes) {
        INFO("head_dim " << head_dim << ", " << threads << " threads");
        std::vector<TestType> after[2] = {packed, packed};
        for (const int shuffled : {0, 1}) {
          run_on_host(NormaliseHeadsKernel<TestType, access()>{.packed = after[shuffled].data(),
                                                               .query_gain = query_gain.data(),
                                                               .key_gain = key_gain.data(),
                                                               .rows = row_count,
                                                               .heads = heads,
                                                               .kv_heads = kv_heads,
                                                               .head_dim = head_dim,
                                                               .epsilon = epsilon,
                                                               .threads = threads},
                      shuffled == 1 ? HostOrder::shuffled : HostOrder::forward);
        }
        check_close(after[0], want, 10.0);  // normalized values of up to some units
        CHECK(same_bits(after[0], after[1]));
      }
    });
  }
}

TEMPLATE_TEST_CASE("activations are silu, gelu and relu, times the gate if there is one", "", Half, Bfloat16, float) {
  for (const unsigned width : {5U, 24U}) {
    for (const bool gated : {false, true}) {
      auto in = random_values<TestType>(row_count * width * (gated ? 2 : 1), 1);
      for (TestType& value : in) value = from_float<TestType>(6.0F * to_float(value));
      for (const latency::Activation function :
           {latency::Activation::silu, latency::Activation::gelu, latency::Activation::relu}) {
        std::vector<double> want;
        for (std::size_t row = 0; row < row_count; ++row) {
          for (std::size_t i = 0; i < width; ++i) {
            const std::size_t at = row * width * (gated ? 2 : 1) + i;
            const auto x = static_cast<double>(to_float(in[at]));
            double y = std::max(x, 0.0);
            if (function == latency::Activation::silu) y = x / (1.0 + std::exp(-x));
            if (function == latency::Activation::gelu) y = x * 0.5 * std::erfc(-x / std::sqrt(2.0));
            want.push_back(gated ? y * static_cast<double>(to_float(in[at + width])) : y);
          }
        }
        for_each_access(width, [&](auto access) {
          for (const unsigned threads : block_sizes) {
            auto out = poisoned<TestType>(row_count * width);
            run_on_host(ActivateKernel<TestType, access()>{.in = in.data(),
                                                           .out = out.data(),
                                                           .rows = row_count,
                                                           .width = width,
                                                           .function = function,
                                                           .gated = gated,
                                                           .threads = threads});
            check_close(out, want, 6.0);
          }
        });
      }
    }
  }
}

TEMPLATE_TEST_CASE("new keys and values follow the context, rotated by their positions, and nothing else moves", "",
                   Half, Bfloat16, float) {
  constexpr unsigned batch = 2;
  constexpr unsigned tokens = 3;
  constexpr unsigned context = 4;
  constexpr unsigned capacity = 8;
  constexpr unsigned heads = 4;
  constexpr unsigned kv_heads = 2;
  constexpr double base = 10'000.0;
  for (const unsigned head_dim : {5U, 6U, 32U}) {
    for (const bool rotary : {false, true}) {
      if (rotary && head_dim % 2 != 0) continue;
      const std::size_t width = (heads + 2 * kv_heads) * head_dim;
      const auto packed = random_values<TestType>(batch * tokens * width, 1);
      const auto old_keys = random_values<TestType>(std::size_t{batch} * capacity * kv_heads * head_dim, 2);
      const auto old_values = random_values<TestType>(old_keys.size(), 3);

      std::vector<double> want_packed = as_doubles(packed);
      std::vector<double> want_keys = as_doubles(old_keys);
      std::vector<double> want_values = as_doubles(old_values);
      for (std::size_t row = 0; row < batch * tokens; ++row) {
        const std::size_t position = context + row % tokens;
        for (std::size_t head = 0; head < heads + 2 * kv_heads; ++head) {
          for (std::size_t i = 0; i < head_dim; ++i) {
            const std::size_t half = head_dim / 2;
            const auto x = [&](std::size_t element) {
              return static_cast<double>(to_float(packed[row * width + head * head_dim + element]));
            };
            double value = x(i);
            if (rotary && head < heads + kv_heads) {
              const double angle =
                  static_cast<double>(position) * std::pow(base, -2.0 * static_cast<double>(i % half) / head_dim);
              value = i < half ? x(i) * std::cos(angle) - x(i + half) * std::sin(angle)
                               : x(i) * std::cos(angle) + x(i - half) * std::sin(angle);
            }
            const std::size_t slot = (row / tokens * capacity + position) * kv_heads;
            if (head < heads) {
              want_packed[row * width + head * head_dim + i] = value;
            } else if (head < heads + kv_heads) {
              want_keys[(slot + head - heads) * head_dim + i] = value;
            } else {
              want_values[(slot + head - heads - kv_heads) * head_dim + i] = value;
            }
          }
        }
      }

      for_each_access(head_dim / 2, [&](auto access) {
        for (const unsigned threads : block_sizes) {
          INFO("head_dim " << head_dim << ", rotary " << rotary << ", " << threads << " threads");
          auto new_packed = packed;
          auto keys = old_keys;
          auto values = old_values;
          run_on_host(StoreKeysValuesKernel<TestType, access()>{.packed = new_packed.data(),
                                                                .keys = keys.data(),
                                                                .values = values.data(),
                                                                .batch = batch,
                                                                .tokens = tokens,
                                                                .context = context,
                                                                .capacity = capacity,
                                                                .heads = heads,
                                                                .kv_heads = kv_heads,
                                                                .head_dim = head_dim,
                                                                .rotary = rotary,
                                                                .rotary_log2_base = static_cast<float>(std::log2(base)),
                                                                .threads = threads},
                      HostOrder::shuffled);
          check_close(new_packed, want_packed, 2.0);
          check_close(keys, want_keys, 2.0);
          check_close(values, want_values, 2.0);
        }
      });
    }
  }
}

}  // namespace foredraft::gpu_bench::tests
