// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/online_softmax.hpp"
#include "gpu_bench/verify/tree_path.hpp"

/// `tree_sampled`: draw a token from the target at every node, go from the root to the child that holds the drawn one,
/// while there is one; then emit the token that no child holds. So a node is accepted with the target's probability of
/// its token: the naive sampling of [Miao2024], and what SGLang's tree kernel does with its thresholds at 1.
///
/// Lossless where drafts are chosen without chance, as the k most probable tokens of a drafter. For candidates that are
/// drawn from a drafter it is lossless too but accepts less often than it could: recursive rejection accepts with
/// min(1, p/q), takes p's residual from sibling to sibling, and needs the drafter's rows and a pass over V for each
/// sibling that is rejected. The simulator has that rule (multi_candidate); there is no kernel for it, since its rows
/// do not decide by themselves: each residual waits for the sibling before.
///
/// One launch (row_verification.hpp). Reads the target's rows once and 256 logits of each again, and no draft logits;
/// writes the outputs, a part of 8 bytes for each 256 logits, 12 bytes for each share of a row and 8 for each row.
/// Floor: (nodes + 1) V s bytes a request.
namespace foredraft::gpu_bench {

struct TreeSampledRule {
  using Part = SoftmaxPart;

  /// The softmax over a chunk.
  struct Chunk {
    float top, sum;
  };
  static constexpr unsigned chunks_per_group = warp_lanes;

  Chunk* chunks;  ///< batch * rows * chunks of a row
  unsigned vocabulary;
  DrawStream draws;

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE SoftmaxPart scan(Block& block, const TargetRow<Storage>& row, RowSpan span) const {
    constexpr unsigned ahead = 4;
    const unsigned lane = block.thread() % warp_lanes;
    const unsigned warp = block.thread() / warp_lanes;
    const unsigned stride = block.threads() / warp_lanes * chunk_tokens;
    SoftmaxPart of_thread;
    for (unsigned first = span.begin + warp * chunk_tokens; first < span.end; first += ahead * stride) {
      float logits[ahead][pack_elements];
      FOREDRAFT_UNROLL
      for (unsigned i = 0; i < ahead; ++i) load_logits<width>(row, first + i * stride, lane, logits[i]);
      FOREDRAFT_UNROLL
      for (unsigned i = 0; i < ahead; ++i) {
        const unsigned begin = first + i * stride;
        if (begin >= span.end) break;
        SoftmaxPart part;
        add_logits(logits[i], part);
        part = lane_merged(block, part);
        if (lane == 0) {
          chunks_of(row)[begin / chunk_tokens] = {part.top, part.sum};
          of_thread = merged(of_thread, part);
        }
      }
    }
    return of_thread;
  }

  /// The draw falls into a group of 32 chunks, one of its chunks, and a token of that; only that chunk is read again.
  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE RowVerdict finish(Block& block, const TargetRow<Storage>& row, const SoftmaxPart& part,
                                          std::byte* scratch) const {
    const bool found = part.sum > 0.0F;
    if (!found) return {.token = 0, .accepted = false, .fault = true};
    auto* weights = reinterpret_cast<float*>(scratch);
    const unsigned lane = block.thread() % warp_lanes;
    const unsigned groups = groups_of(vocabulary);

    for (unsigned group = block.thread() / warp_lanes; group < groups; group += block.threads() / warp_lanes) {
      const float sum = lane_sum(block, chunk_weight(row, group * chunks_per_group + lane, part.top));
      if (lane == 0) weights[group] = sum;
    }
    block.sync();
    double total = 0.0;
    for (unsigned group = 0; group < groups; ++group) total += static_cast<double>(weights[group]);
    const double draw = draw_uniform(draws, Purpose::replacement, row.request, row.position);
    const Choice group = choose(groups, draw * total, [&](unsigned i) { return weights[i]; });

    block.sync();
    if (block.thread() < chunks_per_group) {
      weights[lane] = chunk_weight(row, group.index * chunks_per_group + lane, part.top);
    }
    block.sync();
    const Choice chunk = choose(chunks_per_group, group.rest, [&](unsigned i) { return weights[i]; });

    block.sync();
    const unsigned begin = (group.index * chunks_per_group + chunk.index) * chunk_tokens;
    float logits[pack_elements] = {};
    if (block.thread() < warp_lanes) {
      load_logits<width>(row, begin, lane, logits);
      FOREDRAFT_UNROLL
      for (unsigned j = 0; j < pack_elements; ++j) logits[j] = exp_below(clean_logit(logits[j]), part.top);
    }
    const unsigned token = begin + choose_in_chunk(block, logits, chunk.rest, weights);
    return {.token = static_cast<std::int32_t>(token), .accepted = true, .fault = part.fault != 0};
  }

  [[nodiscard]] unsigned scratch_bytes() const {
    const unsigned groups = groups_of(vocabulary);
    const unsigned of_chunk = chunk_tokens + warp_lanes;
    return static_cast<unsigned>(sizeof(float)) * (groups > of_chunk ? groups : of_chunk);
  }

  /// An exponential's argument and its sum count 2 a logit.
  [[nodiscard]] static latency::Work row_work(unsigned vocabulary, unsigned /*splits*/, unsigned logit_bytes) {
    const double chunk_bytes = static_cast<double>(divide_up(vocabulary, chunk_tokens)) * sizeof(Chunk);
    return {.read_bytes = chunk_bytes + chunks_per_group * sizeof(Chunk) + 1.0 * chunk_tokens * logit_bytes,
            .written_bytes = chunk_bytes,
            .flop = 2.0 * vocabulary};
  }

 private:
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static unsigned groups_of(unsigned vocabulary) {
    return divide_up(vocabulary, chunks_per_group * chunk_tokens);
  }

  template <class Storage>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE Chunk* chunks_of(const TargetRow<Storage>& row) const {
    return chunks + static_cast<std::int64_t>(row.index) * divide_up(vocabulary, chunk_tokens);
  }

  /// The sum of a chunk below the top of the row; 0 behind the last.
  template <class Storage>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE float chunk_weight(const TargetRow<Storage>& row, unsigned chunk,
                                                         float top) const {
    if (chunk >= divide_up(vocabulary, chunk_tokens)) return 0.0F;
    const Chunk of_row = chunks_of(row)[chunk];
    return of_row.sum * exp_below(of_row.top, top);
  }

  template <unsigned width, class Storage>
  FOREDRAFT_HOST_DEVICE void load_logits(const TargetRow<Storage>& row, unsigned chunk_begin, unsigned lane,
                                         float (&to)[pack_elements]) const {
    load_lane_of_chunk<width>(row.logits, chunk_begin + lane * pack_elements, vocabulary,
                              -std::numeric_limits<float>::infinity(), to);
  }
};

[[nodiscard]] inline WorkspaceSize tree_sampled_workspace(std::int64_t batch, std::int64_t nodes,
                                                          std::int64_t vocabulary) {
  WorkspaceSize size = row_workspace<SoftmaxPart>(batch, nodes + 1, vocabulary);
  size.floats += 2 * batch * (nodes + 1) * divide_up(static_cast<unsigned>(vocabulary), chunk_tokens);
  return size;
}

template <class Storage, class Launcher>
void tree_sampled(const TreeVerificationInput<Storage>& input, const VerificationOutput& output,
                  const Workspace& workspace, Launcher& launcher) {
  const std::size_t rows = std::size_t{input.batch} * (input.nodes + 1);
  Workspace behind = workspace;
  behind.floats += 2 * rows * divide_up(input.vocabulary, chunk_tokens);
  verify_rows(TreeSampledRule{.chunks = reinterpret_cast<TreeSampledRule::Chunk*>(workspace.floats),
                              .vocabulary = input.vocabulary,
                              .draws = input.draws},
              TreePath<Storage>{input}, output, behind, launcher);
}

}  // namespace foredraft::gpu_bench
