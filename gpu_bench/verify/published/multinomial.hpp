// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/choose.hpp"
#include "gpu_bench/verify/published/row_reduce.hpp"
#include "gpu_bench/verify/published/row_steps.hpp"

/// Samples one token per request from a row of weights, with the checks of the tensor library's `multinomial`: three
/// passes that look for NaN, infinity, negative weights and a sum of 0; the host waits twice for the results.
///
/// After the checks the library fills a tensor with exponential noise, divides, and takes the maximum: three launches
/// that move five rows. Here the token must depend on one uniform of verification.hpp, so two launches move one row
/// instead.
namespace foredraft::gpu_bench::published {

/// Where a token is sampled from: a row of weights, or p in cases where the library would raise an error.
template <class Storage>
struct DrawnRows {
  const Storage* weights;            ///< [batch, vocabulary]
  const std::uint8_t* valid;         ///< [batch]
  const std::uint8_t* without_mass;  ///< [batch]
  const Storage* targets;            ///< [batch, gamma + 1, vocabulary]
  const std::uint32_t* matches;      ///< [batch]

  [[nodiscard]] FOREDRAFT_HOST_DEVICE bool raises(unsigned request) const {
    return valid[request] == 0 || without_mass[request] != 0;
  }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE const Storage* row(const VerificationInput<Storage>& input,
                                                         unsigned request) const {
    return raises(request) ? targets + row_of(request, input.gamma + 1, matches[request]) * input.vocabulary
                           : weights + row_of(request, input.vocabulary, 0);
  }
};

/// Sums of chunk_tokens neighbors: one warp per chunk.
template <class Storage, unsigned width_of_access>
struct ChunkSumsKernel {
  static constexpr unsigned max_threads = 256;

  VerificationInput<Storage> input;
  DrawnRows<Storage> rows;
  float* sums;  ///< [batch, chunks]
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = input.batch * divide_up(chunks(), threads / warp_lanes), .threads = threads, .shared_bytes = 0};
  }
  [[nodiscard]] Traffic traffic() const {
    const double elements = static_cast<double>(input.batch) * input.vocabulary;
    return {.read_bytes = elements * sizeof(Storage),
            .written_bytes = static_cast<double>(input.batch) * chunks() * sizeof(float)};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned warps = block.threads() / warp_lanes;
    const unsigned blocks_per_row = divide_up(chunks(), warps);
    const unsigned request = block.block() / blocks_per_row;
    const unsigned chunk = block.block() % blocks_per_row * warps + block.thread() / warp_lanes;
    const unsigned lane = block.thread() % warp_lanes;
    float weights[pack_elements];
    load_padded<width_of_access>(rows.row(input, request), chunk * chunk_tokens + lane * pack_elements,
                                 input.vocabulary, 0.0F, weights);
    const float sum = chunk_sum(block, weights);
    if (lane == 0 && chunk < chunks()) sums[static_cast<std::int64_t>(request) * chunks() + chunk] = sum;
  }

 private:
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned chunks() const { return divide_up(input.vocabulary, chunk_tokens); }
};

/// The token that a uniform selects: first a group of chunks, then one of its chunks, then a token of that.
template <class Storage, unsigned width_of_access>
struct DrawTokenKernel {
  static constexpr unsigned max_threads = 256;

  VerificationInput<Storage> input;
  DrawnRows<Storage> rows;
  const float* sums;  ///< [batch, chunks]
  std::int32_t* out;  ///< [batch]
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = input.batch,
            .threads = threads,
            .shared_bytes = static_cast<unsigned>((groups() + chunk_tokens + warp_lanes) * sizeof(float))};
  }
  [[nodiscard]] Traffic traffic() const {
    return {
        .read_bytes = input.batch * (chunks() * sizeof(float) + static_cast<double>(chunk_tokens) * sizeof(Storage)),
        .written_bytes = static_cast<double>(input.batch) * sizeof(std::int32_t)};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned request = block.block();
    const float* of_chunks = sums + static_cast<std::int64_t>(request) * chunks();
    auto* of_groups = reinterpret_cast<float*>(block.shared());
    for (unsigned group = block.thread(); group < groups(); group += block.threads()) {
      float sum = 0.0F;
      for (unsigned i = 0; i < chunks_in(group); ++i) sum += of_chunks[group * group_chunks + i];
      of_groups[group] = sum;
    }
    block.sync();
    double total = 0.0;
    for (unsigned group = 0; group < groups(); ++group) total += static_cast<double>(of_groups[group]);

    const unsigned position = rows.matches[request];
    const Purpose purpose = has_draft(input, request, position) ? Purpose::replacement : Purpose::bonus_token;
    const double threshold = draw_uniform(input.draws, purpose, request, position) * total;
    const Choice group = choose(groups(), threshold, [&](unsigned i) { return of_groups[i]; });
    const Choice chunk = choose(chunks_in(group.index), group.rest,
                                [&](unsigned i) { return of_chunks[group.index * group_chunks + i]; });
    const unsigned first = (group.index * group_chunks + chunk.index) * chunk_tokens;
    float weights[pack_elements];
    load_padded<width_of_access>(rows.row(input, request), first + block.thread() % warp_lanes * pack_elements,
                                 input.vocabulary, 0.0F, weights);
    const unsigned token = first + choose_in_chunk(block, weights, chunk.rest, of_groups + groups());
    if (block.thread() == 0) out[request] = static_cast<std::int32_t>(token);
  }

 private:
  static constexpr unsigned group_chunks = 32;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned chunks() const { return divide_up(input.vocabulary, chunk_tokens); }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned groups() const { return divide_up(chunks(), group_chunks); }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned chunks_in(unsigned group) const {
    const unsigned left = chunks() - group * group_chunks;
    return left < group_chunks ? left : group_chunks;
  }
};

template <class Storage>
struct MultinomialTensors {
  WorkspaceCutter& cutter;
  std::int64_t batch, vocabulary;
  Storage* largest = cutter.tensor<Storage>(batch);
  Storage* smallest = cutter.tensor<Storage>(batch);
  Storage* sums = cutter.tensor<Storage>(batch);
  std::uint8_t* is_finite = cutter.tensor<std::uint8_t>(batch);
  std::uint8_t* not_negative = cutter.tensor<std::uint8_t>(batch);
  std::uint8_t* valid = cutter.tensor<std::uint8_t>(batch);
  std::uint8_t* without_mass = cutter.tensor<std::uint8_t>(batch);
  std::uint32_t* failures = cutter.tensor<std::uint32_t>(1);
  float* parts = cutter.tensor<float>(batch * reduce_splits(static_cast<unsigned>(vocabulary)));
  std::uint32_t* counters = cutter.counters(batch);
  float* chunk_sums = cutter.tensor<float>(batch * divide_up(static_cast<unsigned>(vocabulary), chunk_tokens));
  std::int32_t* tokens = cutter.tensor<std::int32_t>(batch);
};

/// The maximum, minimum or sum of a row, over all blocks.
template <class Reduction, class Storage, class Launcher>
void reduce_rows(const VerificationInput<Storage>& input, const Storage* rows, Storage* out,
                 const MultinomialTensors<Storage>& tensors, Launcher& launcher) {
  reduce<Reduction>(rows, out, tensors.parts, tensors.counters, input.batch, input.vocabulary, launcher);
}

/// One token per request, written to tensors.tokens: with uniform (replacement, matches) if a draft was rejected, else
/// with (bonus_token, matches). Ten launches, two waits.
template <class Storage, class Launcher>
DrawnRows<Storage> multinomial(const VerificationInput<Storage>& input, const Storage* weights, const Storage* targets,
                               const std::uint32_t* matches, const MultinomialTensors<Storage>& tensors,
                               Launcher& launcher) {
  const std::int64_t batch = input.batch;
  reduce_rows<Largest>(input, weights, tensors.largest, tensors, launcher);
  map<IsBelowInfinity>(tensors.largest, tensors.is_finite, batch, launcher);
  reduce_rows<Smallest>(input, weights, tensors.smallest, tensors, launcher);
  map<IsNotNegative>(tensors.smallest, tensors.not_negative, batch, launcher);
  combine<And>(tensors.is_finite, tensors.not_negative, tensors.valid, batch, launcher);
  launcher.read_back(tensors.valid, static_cast<std::size_t>(batch));
  reduce_rows<Sum>(input, weights, tensors.sums, tensors, launcher);
  map<IsZero>(tensors.sums, tensors.without_mass, batch, launcher);
  reduce<Sum>(tensors.without_mass, tensors.failures, tensors.parts, tensors.counters, 1, input.batch, launcher);
  launcher.read_back(tensors.failures, sizeof(std::uint32_t));

  const DrawnRows<Storage> rows{.weights = weights,
                                .valid = tensors.valid,
                                .without_mass = tensors.without_mass,
                                .targets = targets,
                                .matches = matches};
  with_width(input.vocabulary, [&](auto width) {
    launcher.launch(ChunkSumsKernel<Storage, width.value>{.input = input, .rows = rows, .sums = tensors.chunk_sums});
    launcher.launch(DrawTokenKernel<Storage, width.value>{
        .input = input, .rows = rows, .sums = tensors.chunk_sums, .out = tensors.tokens});
  });
  return rows;
}

/// The accepted drafts, the sampled token and the padding, as concatenated by the library; and whether the request has
/// a fault.
template <class Storage>
struct EmitKernel {
  static constexpr unsigned max_threads = 128;

  VerificationInput<Storage> input;
  VerificationOutput output;
  DrawnRows<Storage> rows;
  const std::int32_t* drawn;               ///< [batch]
  const std::uint32_t* target_row_faults;  ///< [batch, gamma + 1]
  const std::uint32_t* draft_row_faults;   ///< [batch, gamma]; or null: the target's rows stand for both
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const { return {.blocks = input.batch, .threads = threads, .shared_bytes = 0}; }
  [[nodiscard]] Traffic traffic() const {
    return {.read_bytes = static_cast<double>(input.batch) * (input.gamma + 1) * sizeof(std::int32_t),
            .written_bytes = static_cast<double>(input.batch) * (input.gamma + 3) * sizeof(std::int32_t)};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned request = block.block();
    const unsigned matches = rows.matches[request];
    for (unsigned i = block.thread(); i <= input.gamma; i += block.threads()) {
      output.tokens[row_of(request, input.gamma + 1, i)] =
          i < matches ? input.drafts[row_of(request, input.gamma, i)] : (i == matches ? drawn[request] : no_token);
    }
    if (block.thread() != 0) return;
    std::uint32_t fault = rows.raises(request) ? 1 : 0;
    for (unsigned i = 0; i <= input.gamma; ++i) fault |= target_row_faults[row_of(request, input.gamma + 1, i)];
    for (unsigned i = 0; draft_row_faults != nullptr && i < input.gamma; ++i) {
      fault |= draft_row_faults[row_of(request, input.gamma, i)];
    }
    output.emitted_counts[request] = static_cast<std::int32_t>(matches) + 1;
    output.faults[request] = fault;
  }
};

}  // namespace foredraft::gpu_bench::published
