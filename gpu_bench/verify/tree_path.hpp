// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/reference.hpp"
#include "gpu_bench/verify/row_verification.hpp"

namespace foredraft::gpu_bench {

/// The verification of drafted trees, all of one shape. Row i of a request has the target's logits after the path to
/// node i. A node whose token is outside the vocabulary is never reached, nor are its descendants; trees are padded
/// this way.
///
/// Output, VerificationOutput: the tokens of the walked path and the one after it, [batch, depth + 1]. A row without
/// any finite logit ends the path with token 0. `faults` are those of the rows of the walked path.
template <class Storage>
struct TreeVerificationInput {
  const Storage* target_logits;        ///< [batch, nodes + 1, vocabulary]
  const std::int32_t* node_tokens;     ///< [batch, nodes + 1]; the root's is never read
  const std::int32_t* first_children;  ///< [nodes + 1], see TreeShape
  const std::int32_t* next_siblings;   ///< [nodes + 1]
  unsigned batch, nodes, depth, vocabulary;
  DrawStream draws;
};

/// Drafts in a tree. The walk starts at the root. From each node it goes on to the first child with the token that the
/// node's row selects, and ends where there is none.
template <class StorageType>
struct TreePath {
  using Storage = StorageType;

  TreeVerificationInput<Storage> input;

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows() const { return input.nodes + 1; }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows_read(unsigned /*request*/) const { return rows(); }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE std::int32_t draft(unsigned /*request*/, unsigned /*position*/) const {
    return no_token;
  }

  /// Finds the next node of all nodes in parallel, in shared memory; then one thread follows the walk.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void walk(Block& block, unsigned request, const RowVerdict* verdicts,
                                  const VerificationOutput& output, std::byte* scratch) const {
    auto* nodes = reinterpret_cast<Node*>(scratch);
    for (unsigned i = block.thread(); i < rows(); i += block.threads()) {
      nodes[i] = {.verdict = verdicts[i],
                  .token = i > 0 ? input.node_tokens[request * rows() + i] : no_token,
                  .next_sibling = input.next_siblings[i],
                  .next = no_node};
    }
    block.sync();
    for (unsigned i = block.thread(); i < rows(); i += block.threads()) {
      std::int32_t child = nodes[i].verdict.accepted ? input.first_children[i] : no_node;
      while (child != no_node && nodes[child].token != nodes[i].verdict.token) child = nodes[child].next_sibling;
      nodes[i].next = child;
    }
    block.sync();
    if (block.thread() != 0) return;
    std::int32_t* tokens = output.tokens + request * (input.depth + 1);
    unsigned count = 0;
    bool fault = false;
    for (std::int32_t node = 0; node != no_node; node = nodes[node].next) {
      tokens[count] = nodes[node].verdict.token;
      fault = fault || nodes[node].verdict.fault;
      ++count;
    }
    for (unsigned i = count; i <= input.depth; ++i) tokens[i] = no_token;
    output.emitted_counts[request] = static_cast<std::int32_t>(count);
    output.faults[request] = fault ? 1U : 0U;
  }

  [[nodiscard]] unsigned scratch_bytes(unsigned /*threads*/) const {
    return rows() * static_cast<unsigned>(sizeof(Node));
  }

  [[nodiscard]] Traffic traffic() const {
    const double nodes = static_cast<double>(input.batch) * input.nodes;
    const double requests = input.batch;
    return {.read_bytes = 4 * (3 * nodes + 2 * requests), .written_bytes = 4 * (requests * input.depth + 3 * requests)};
  }

 private:
  struct Node {
    RowVerdict verdict;
    std::int32_t token;
    std::int32_t next_sibling;
    std::int32_t next;  ///< next node of the walk
  };
};

// ---- `tree_greedy`: walks from each node to the child with the target's most probable token, and emits that token
// where no child has it. On a tree that is a chain this is greedy_match.
//
// One launch (row_verification.hpp). Reads the target's rows once and no draft logits; writes the outputs, 12 bytes for
// each share of a row and 8 for each row. Lower bound: (nodes + 1) V s bytes per request.

template <class Storage, class Launcher>
void tree_greedy(const TreeVerificationInput<Storage>& input, const VerificationOutput& output, WorkspaceCutter& cutter,
                 Launcher& launcher) {
  verify_rows(GreedyRule<true>{}, TreePath<Storage>{input}, output, cutter, launcher);
}

// ---- `tree_sampled`: samples a token from the target at every node, walks from each node to the child with the
// sampled token, and emits that token where no child has it. So a node is accepted with the target's probability of its
// token: the naive sampling of [Miao2024], and SGLang's tree kernel with its thresholds at 1.
//
// Lossless if drafts are chosen deterministically, as the k most probable tokens of a drafter. For candidates that are
// sampled from a drafter it is lossless too but accepts less often than possible. Recursive rejection accepts with
// min(1, p/q) and passes p's residual from sibling to sibling; it needs the drafter's rows and a pass over V for each
// rejected sibling. The simulator has that rule (multi_candidate). There is no kernel for it because its rows are not
// independent: each residual depends on the sibling before.
//
// One launch (row_verification.hpp). Reads the target's rows once, 256 logits of each again, and no draft logits;
// writes the outputs, a part of 8 bytes for each 256 logits, 12 bytes for each share of a row and 8 for each row. Lower
// bound: (nodes + 1) V s bytes per request.

struct TreeSampledRule {
  using Part = SoftmaxPart;

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

  /// The draw selects a group of 32 chunks, then a chunk of the group, then a token. Only that chunk is read again.
  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE RowVerdict finish(Block& block, const TargetRow<Storage>& row, const SoftmaxPart& part,
                                          std::byte* scratch) const {
    if (!(part.sum > 0.0F)) return {.token = 0, .accepted = false, .fault = true};
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

  [[nodiscard]] Traffic row_traffic(unsigned /*splits*/, unsigned logit_bytes) const {
    const double chunk_bytes = static_cast<double>(divide_up(vocabulary, chunk_tokens)) * sizeof(Chunk);
    return {.read_bytes = chunk_bytes + chunks_per_group * sizeof(Chunk) + 1.0 * chunk_tokens * logit_bytes,
            .written_bytes = chunk_bytes};
  }

 private:
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static unsigned groups_of(unsigned vocabulary) {
    return divide_up(vocabulary, chunks_per_group * chunk_tokens);
  }

  template <class Storage>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE Chunk* chunks_of(const TargetRow<Storage>& row) const {
    return chunks + static_cast<std::int64_t>(row.index) * divide_up(vocabulary, chunk_tokens);
  }

  /// The sum of a chunk relative to the largest logit of the row; 0 beyond the last chunk.
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
    load_padded<width>(row.logits, chunk_begin + lane * pack_elements, vocabulary,
                       -std::numeric_limits<float>::infinity(), to);
  }
};

template <class Storage, class Launcher>
void tree_sampled(const TreeVerificationInput<Storage>& input, const VerificationOutput& output,
                  WorkspaceCutter& cutter, Launcher& launcher) {
  const std::int64_t rows = std::int64_t{input.batch} * (input.nodes + 1);
  auto* chunks = cutter.packed<TreeSampledRule::Chunk>(rows * divide_up(input.vocabulary, chunk_tokens));
  verify_rows(TreeSampledRule{.chunks = chunks, .vocabulary = input.vocabulary, .draws = input.draws},
              TreePath<Storage>{input}, output, cutter, launcher);
}

}  // namespace foredraft::gpu_bench
