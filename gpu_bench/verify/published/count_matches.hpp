// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/published/row_reduce.hpp"
#include "gpu_bench/verify/published/workspace_cutter.hpp"
#include "gpu_bench/verify/verification.hpp"

namespace foredraft::gpu_bench::published {

/// The largest number of a storage type below 1.
template <class Storage>
inline constexpr float largest_below_one = 0x1.fffffep-1F;
template <>
inline constexpr float largest_below_one<Half> = 0x1.ffcp-1F;
template <>
inline constexpr float largest_below_one<Bfloat16> = 0x1.fep-1F;

/// A tensor of uniform random numbers on [0, 1) in the storage type: what rounds to 1 becomes the number below.
template <class Storage>
struct AcceptDrawsKernel {
  static constexpr unsigned max_threads = 256;

  DrawStream draws;
  Storage* out;  ///< [batch, gamma]
  unsigned batch;
  unsigned gamma;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return elementwise_shape(elements(), threads); }
  [[nodiscard]] latency::Work work() const {
    return {.read_bytes = 0.0, .written_bytes = static_cast<double>(elements()) * sizeof(Storage), .flop = 0.0};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const std::int64_t i = element_of(block);
    if (i >= elements()) return;
    const double uniform =
        draw_uniform(draws, Purpose::accept, static_cast<unsigned>(i / gamma), static_cast<std::uint32_t>(i % gamma));
    const auto rounded = from_float<Storage>(static_cast<float>(uniform));
    out[i] = to_float(rounded) < 1.0F ? rounded : from_float<Storage>(largest_below_one<Storage>);
  }

 private:
  [[nodiscard]] FOREDRAFT_HOST_DEVICE std::int64_t elements() const { return static_cast<std::int64_t>(batch) * gamma; }
};

/// out[row, i] = in[row, 0] + ... + in[row, i]: a block a row, a tile of as many elements as threads after another.
struct CumulativeSumKernel {
  static constexpr unsigned max_threads = 256;

  const std::uint32_t* in;
  std::uint32_t* out;
  unsigned rows;
  unsigned columns;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = rows, .threads = threads, .shared_bytes = static_cast<unsigned>(threads * sizeof(std::uint32_t))};
  }
  [[nodiscard]] latency::Work work() const {
    const double elements = static_cast<double>(rows) * columns;
    return {.read_bytes = elements * sizeof(std::uint32_t),
            .written_bytes = elements * sizeof(std::uint32_t),
            .flop = elements};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    auto* tile = reinterpret_cast<std::uint32_t*>(block.shared());
    const unsigned thread = block.thread();
    const std::int64_t row = static_cast<std::int64_t>(block.block()) * columns;
    std::uint32_t before = 0;
    for (unsigned start = 0; start < columns; start += block.threads()) {
      tile[thread] = start + thread < columns ? in[row + start + thread] : 0U;
      block.sync();
      for (unsigned step = 1; step < block.threads(); step *= 2) {
        const std::uint32_t left = thread >= step ? tile[thread - step] : 0U;
        block.sync();
        tile[thread] += left;
        block.sync();
      }
      if (start + thread < columns) out[row + start + thread] = before + tile[thread];
      before += tile[block.threads() - 1];
      block.sync();
    }
  }
};

/// What becomes of ratios p / q of drafts, one small tensor after another.
template <class Storage>
struct MatchTensors {
  Storage* uniforms;          ///< [batch, gamma]
  std::uint8_t* accepted;     ///< [batch, gamma]
  std::uint8_t* rejected;     ///< [batch, gamma]
  std::uint32_t* rejections;  ///< [batch, gamma]
  std::uint32_t* cumulative;  ///< [batch, gamma]
  std::uint8_t* matched;      ///< [batch, gamma]
  std::uint32_t* matches;     ///< [batch]: drafts in front of the first rejection

  MatchTensors(WorkspaceCutter& cutter, std::int64_t batch, std::int64_t gamma)
      : uniforms(cutter.tensor<Storage>(batch * gamma)),
        accepted(cutter.tensor<std::uint8_t>(batch * gamma)),
        rejected(cutter.tensor<std::uint8_t>(batch * gamma)),
        rejections(cutter.tensor<std::uint32_t>(batch * gamma)),
        cumulative(cutter.tensor<std::uint32_t>(batch * gamma)),
        matched(cutter.tensor<std::uint8_t>(batch * gamma)),
        matches(cutter.tensor<std::uint32_t>(batch)) {}
};

/// matches = sum(cumsum(~(uniform < ratio)) < 1), as the library computes it: seven launches. The library accepts
/// where uniform <= ratio, so a token that the target never emits with a uniform of 0; here it is rejected. Empty
/// tensors take no launch.
template <class Storage, class Launcher>
void count_matches(const VerificationInput<Storage>& input, const Storage* ratios, const MatchTensors<Storage>& tensors,
                   Launcher& launcher) {
  const std::int64_t elements = static_cast<std::int64_t>(input.batch) * input.gamma;
  if (elements > 0) {
    launcher.launch(AcceptDrawsKernel<Storage>{
        .draws = input.draws, .out = tensors.uniforms, .batch = input.batch, .gamma = input.gamma});
    launcher.launch(CombineKernel<Less, Storage, std::uint8_t>{
        .a = tensors.uniforms, .b = ratios, .out = tensors.accepted, .elements = elements});
    launcher.launch(MapKernel<Not, std::uint8_t, std::uint8_t>{
        .in = tensors.accepted, .out = tensors.rejected, .elements = elements});
    launcher.launch(MapKernel<Convert, std::uint8_t, std::uint32_t>{
        .in = tensors.rejected, .out = tensors.rejections, .elements = elements});
    launcher.launch(CumulativeSumKernel{
        .in = tensors.rejections, .out = tensors.cumulative, .rows = input.batch, .columns = input.gamma});
    launcher.launch(MapKernel<IsZero, std::uint32_t, std::uint8_t>{
        .in = tensors.cumulative, .out = tensors.matched, .elements = elements});
  }
  launcher.launch(ReduceKernel<Sum, std::uint8_t, std::uint32_t>{.in = tensors.matched,
                                                                 .out = tensors.matches,
                                                                 .parts = nullptr,
                                                                 .counters = nullptr,
                                                                 .rows = input.batch,
                                                                 .columns = input.gamma});
}

}  // namespace foredraft::gpu_bench::published
