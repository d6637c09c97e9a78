// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>

#include "gpu_bench/verify/row_scan.hpp"
#include "gpu_bench/verify/verification.hpp"

/// Verification in which every row decides independently, in one launch.
///
///     a block (request, row, split)   scans its share of the row, writes a part
///     the last block of a row         merges the parts, writes the row's verdict
///     the last block of a request     walks from row to row, writes what is emitted
///
/// Reads every row of a request once, the drafts and their counts; writes the outputs and, to be read back, a part for
/// each block and a verdict for each row. The verdict of a row does not depend on the rest of the batch, and nothing
/// depends on which block is last.
namespace foredraft::gpu_bench {

struct RowVerdict {
  std::int32_t token;  ///< emitted if the walk ends here
  bool accepted;       ///< the walk may continue
  bool fault;          ///< the row held NaN or +inf, or nothing finite
};

template <class Storage>
struct TargetRow {
  const Storage* logits;
  std::int32_t draft;  ///< the draft that this row judges: within the vocabulary, or no_token
  unsigned request, position;
  unsigned index;  ///< of the row in the batch
};

/// `Rule`: the result of one row.
///
///     Part                                                       of a share of the row: see reduce.hpp
///     Part scan<width>(block, row, span)                         of what this thread read
///     RowVerdict finish<width>(block, row, Part of row, scratch) in all threads of the row's last block
///     unsigned scratch_bytes()                                   of shared memory, for finish
///     Traffic row_traffic(splits, logit_bytes)                   of a row, beyond reading its logits once
///
/// `Path`: how the rows of a request are connected.
///
///     Storage, input                                             of the verification
///     unsigned rows()                                            the maximum of a request
///     unsigned rows_read(request)                                how many it has
///     std::int32_t draft(request, position)                      that a row judges
///     walk(block, request, verdicts, output, scratch)            writes the outputs of a request
///     unsigned scratch_bytes(threads)                            of shared memory, for walk
///     Traffic traffic()                                          of all walks
template <class Rule, class Path, unsigned width_of_access>
struct RowVerificationKernel {
  using Part = typename Rule::Part;
  static constexpr unsigned max_threads = 256;

  Rule rule;
  Path path;
  VerificationOutput output;
  RowVerdict* verdicts;     ///< batch * rows
  Part* parts;              ///< batch * rows * splits
  std::uint32_t* counters;  ///< batch * (rows + 1), zero
  unsigned splits;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    unsigned scratch_bytes = threads / warp_lanes * static_cast<unsigned>(sizeof(Part));
    for (const unsigned bytes : {rule.scratch_bytes(), path.scratch_bytes(threads)}) {
      if (bytes > scratch_bytes) scratch_bytes = bytes;
    }
    return {.blocks = path.input.batch * path.rows() * splits,
            .threads = threads,
            .shared_bytes = flag_bytes + scratch_bytes};
  }

  /// For requests that have all their drafts.
  [[nodiscard]] Traffic traffic() const {
    const double rows = static_cast<double>(path.input.batch) * path.rows();
    constexpr auto logit_bytes = static_cast<unsigned>(sizeof(typename Path::Storage));
    const double row_bytes = static_cast<double>(path.input.vocabulary) * logit_bytes;
    const double between_blocks = static_cast<double>((splits > 1 ? splits * sizeof(Part) : 0) + sizeof(RowVerdict));
    const Traffic row = rule.row_traffic(splits, logit_bytes);
    Traffic all{.read_bytes = rows * (row_bytes + between_blocks + row.read_bytes),
                .written_bytes = rows * (between_blocks + row.written_bytes)};
    all += path.traffic();
    return all;
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const unsigned split = block.block() % splits;
    const unsigned position = block.block() / splits % path.rows();
    const unsigned request = block.block() / splits / path.rows();
    const unsigned rows_read = path.rows_read(request);
    if (position >= rows_read) return;
    const unsigned index = request * path.rows() + position;
    const auto* logits = path.input.target_logits + static_cast<std::int64_t>(index) * path.input.vocabulary;
    const TargetRow<typename Path::Storage> row{.logits = logits,
                                                .draft = path.draft(request, position),
                                                .request = request,
                                                .position = position,
                                                .index = index};

    auto* flag = reinterpret_cast<std::uint32_t*>(block.shared());
    std::byte* scratch = block.shared() + flag_bytes;
    auto* parts_of_warps = reinterpret_cast<Part*>(scratch);
    const RowSpan span = span_of_split(path.input.vocabulary, split, splits);
    Part part = block_merged(block, rule.template scan<width_of_access>(block, row, span), parts_of_warps);
    if (splits > 1) {
      if (block.thread() == 0) parts[block.block()] = part;
      if (!comes_last(block, splits, counters + row.index, flag)) return;
      part = Part{};
      for (unsigned i = block.thread(); i < splits; i += block.threads()) {
        part = merged(part, parts[row.index * splits + i]);
      }
      part = block_merged(block, part, parts_of_warps);
    }
    block.sync();  // the rule's scratch is that of the parts
    const RowVerdict verdict = rule.template finish<width_of_access>(block, row, part, scratch);
    if (block.thread() == 0) verdicts[row.index] = verdict;
    if (!comes_last(block, rows_read, counters + path.input.batch * path.rows() + request, flag)) return;
    path.walk(block, request, verdicts + request * path.rows(), output, scratch);
  }

 private:
  static constexpr unsigned flag_bytes = 16;
};

/// Launches the kernel with loads as wide as rows allow: logits start at a multiple of 16 bytes.
template <class Rule, class Path, class Launcher>
void verify_rows(const Rule& rule, const Path& path, const VerificationOutput& output, WorkspaceCutter& cutter,
                 Launcher& launcher) {
  const std::int64_t rows = std::int64_t{path.input.batch} * path.rows();
  const unsigned splits = splits_of_row(path.input.vocabulary);
  auto* verdicts = cutter.packed<RowVerdict>(rows);
  auto* parts = cutter.packed<typename Rule::Part>(rows * splits);
  std::uint32_t* counters = cutter.counters(rows + path.input.batch);
  with_width(path.input.vocabulary, [&](auto width) {
    launcher.launch(RowVerificationKernel<Rule, Path, width.value>{.rule = rule,
                                                                   .path = path,
                                                                   .output = output,
                                                                   .verdicts = verdicts,
                                                                   .parts = parts,
                                                                   .counters = counters,
                                                                   .splits = splits});
  });
}

/// The most probable token of a part of a row, the lowest of tied ones.
struct Pick {
  static constexpr std::uint32_t nothing = 0xffffffffU;

  float logit = -std::numeric_limits<float>::infinity();
  std::uint32_t token = nothing;  ///< if no logit is finite
  std::uint32_t fault = 0;        ///< 1 where a logit was NaN or +inf

  /// Adds clean logits of neighboring tokens. Tokens must be ascending.
  template <unsigned count>
  FOREDRAFT_HOST_DEVICE void take(const float (&logits)[count], unsigned first_token, bool were_faulty) {
    if (were_faulty) fault = 1;
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < count; ++j) {
      if (logits[j] > logit) {
        logit = logits[j];
        token = first_token + j;
      }
    }
  }

  /// Verdict of a whole row. One without finite logits gives token 0 and accepts nothing.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE RowVerdict verdict(bool accepted) const {
    const bool found = token != nothing;
    return {.token = found ? static_cast<std::int32_t>(token) : 0,
            .accepted = found && accepted,
            .fault = !found || fault != 0};
  }
};

FOREDRAFT_HOST_DEVICE inline Pick merged(const Pick& a, const Pick& b) {
  const bool second = b.logit > a.logit || (b.logit == a.logit && b.token < a.token);
  return {second ? b.logit : a.logit, second ? b.token : a.token, a.fault | b.fault};
}

/// The rule of `greedy_match` and `tree_greedy`: a row selects its most probable token. In a tree the walk goes on to
/// the child that holds it, in a chain while that is the draft.
template <bool in_tree>
struct GreedyRule {
  using Part = Pick;

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE Pick scan(Block& block, const TargetRow<Storage>& row, RowSpan span) const {
    Pick pick;
    scan_row<width>(block, row.logits, span, [&pick](const float(&logits)[width], unsigned first, bool faulty) {
      pick.take(logits, first, faulty);
    });
    return pick;
  }

  template <unsigned width, class Block, class Storage>
  FOREDRAFT_HOST_DEVICE RowVerdict finish(Block& /*block*/, const TargetRow<Storage>& row, const Pick& pick,
                                          std::byte* /*scratch*/) const {
    return pick.verdict(in_tree || (pick.token == static_cast<std::uint32_t>(row.draft) && row.draft != no_token));
  }

  [[nodiscard]] static unsigned scratch_bytes() { return 0; }
  [[nodiscard]] static Traffic row_traffic(unsigned /*splits*/, unsigned /*logit_bytes*/) { return {}; }
};

}  // namespace foredraft::gpu_bench
