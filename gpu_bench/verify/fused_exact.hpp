// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu_bench/verify/row_scan.hpp"
#include "gpu_bench/verify/verification.hpp"

/// Rejection sampling [Leviathan2023, Alg. 1] from logits to tokens: this project's verifier.
///
/// The vocabulary is divided into splits. There are two kinds of work units, one block each:
///
///     row unit      (request, row, split)   reads its logits once, leaves their largest and their sum of exponentials
///     choice unit   (request, split)        puts the row units of its request together, accepts and rejects, reads its
///                                           split of the one row that a token is drawn from (of target and drafter),
///                                           leaves sums of max(0, p - q) and of p a chunk of 256 tokens; the last of
///                                           them draws: split, chunk, then a token of the chunk that is read again
///
/// Reads, with g drafts a request and V tokens of s bytes: 2g + 1 rows of V s bytes once; two rows once more, or one if
/// all drafts are accepted; some sums. Writes only sums and the outputs.
/// Target time: that of (2g + 1) V s bytes per request at the device's read bandwidth (lower bound L0), and latencies.
/// For a single request: one launch; a ticket and the drafts, then the latency of a row unit; two barriers between
/// blocks in global memory; the latencies of a choice unit, whose rows are in L2; about a hundred dependent additions
/// that draw. For a large batch: a row unit keeps 16 or 32 KiB in flight during its logits' latency, and occupies its
/// place on the multiprocessor also during the latencies of the ticket, the drafts and the barrier. If the vocabulary
/// is not a multiple of 8, rows are unaligned and read element by element.
///
/// One launch: units are handed out by a ticket in a fixed order, and a choice unit waits for row units of its request,
/// which have smaller tickets. Those belong to blocks that already run and do not wait, so there is no deadlock for any
/// number of concurrent blocks, and no cooperative launch is needed. Choice units come some requests after their rows:
/// late enough that these are done, early enough that they are still in L2.
/// Two launches: the same units, rows in the first, choices in the second; no unit waits.
///
/// A request's tokens depend only on its logits and random numbers: splits depend on the vocabulary, sums on splits and
/// the size of blocks.
namespace foredraft::gpu_bench {

enum class FusedExactUnits { all, rows, choices };

/// Data exchanged between blocks, in the memory of a Workspace.
struct FusedExactWorkspace {
  SoftmaxPart* parts;           ///< [batch, 2 gamma + 1, splits]: of the target's rows, then of the drafter's
  WeightSums* split_sums;       ///< [batch, splits]
  WeightSums* chunk_sums;       ///< [batch, splits, chunks of a split]
  std::uint32_t* tickets;       ///< one
  std::uint32_t* rows_done;     ///< [batch]: number of finished row units
  std::uint32_t* choices_done;  ///< [batch]
};

template <class Storage, unsigned width_of_access, unsigned split_tokens, FusedExactUnits units>
struct FusedExactKernel {
  static constexpr unsigned max_threads = 256;
  static constexpr unsigned split_chunks = split_tokens / chunk_tokens;
  static_assert(split_tokens % chunk_tokens == 0 && split_chunks <= warp_lanes);

  VerificationInput<Storage> input;
  VerificationOutput output;
  FusedExactWorkspace workspace;
  unsigned threads = max_threads;

  [[nodiscard]] LaunchShape shape() const {
    return {.blocks = input.batch * units_of_request(),
            .threads = threads,
            .shared_bytes = static_cast<unsigned>(sizeof(Shared) + (input.gamma + 1) * sizeof(Position) +
                                                  splits() * sizeof(WeightSums))};
  }

  /// Bytes of logits that a block requests if every request has gamma drafts and one is rejected: each row once, in
  /// every choice unit the drafts' own logits, and the row of the residual, of which one chunk twice.
  [[nodiscard]] double logit_read_bytes() const {
    const double rescanned = input.vocabulary < chunk_tokens ? input.vocabulary : chunk_tokens;
    const double rows_drawn_from = input.gamma > 0 ? 2.0 : 1.0;
    double logits = 0.0;
    if constexpr (units != FusedExactUnits::choices) logits += 1.0 * rows() * input.vocabulary;
    if constexpr (units != FusedExactUnits::rows) {
      logits += 2.0 * input.gamma * splits() + rows_drawn_from * (input.vocabulary + rescanned);
    }
    return logits * input.batch * sizeof(Storage);
  }

  /// Logits as above, sums, drafts and outputs; data shared by the threads of a block counts once.
  [[nodiscard]] Traffic traffic() const {
    const double row_units = 1.0 * rows() * splits();
    const double drafts_bytes = (input.gamma + 1.0) * sizeof(std::int32_t);
    Traffic one{.read_bytes = units_of_request() * drafts_bytes, .written_bytes = 0.0};
    if constexpr (units != FusedExactUnits::choices) {
      one.written_bytes += row_units * sizeof(SoftmaxPart);
    }
    if constexpr (units != FusedExactUnits::rows) {
      one.read_bytes +=
          splits() * (row_units * sizeof(SoftmaxPart) + sizeof(WeightSums)) + split_chunks * sizeof(WeightSums);
      one.written_bytes +=
          splits() * (split_chunks + 1.0) * sizeof(WeightSums) + drafts_bytes + 2 * sizeof(std::int32_t);
    }
    return {.read_bytes = input.batch * one.read_bytes + logit_read_bytes(),
            .written_bytes = input.batch * one.written_bytes};
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void operator()(Block& block) const {
    const Unit unit = unit_of(number_of(block));
    if (unit.row < rows() && units != FusedExactUnits::choices) {
      take_row(block, unit);
    } else if constexpr (units != FusedExactUnits::rows) {
      take_choice(block, unit);
    }
  }

 private:
  /// Number of requests whose row units are handed out before a request's choice units: more than run at a time on
  /// current devices (132 multiprocessors with 4 blocks each), and at 32 KiB per unit no more than fits into their L2.
  static constexpr unsigned row_units_ahead = 768;
  /// Logits of a row unit that a thread loads before it uses the first: 64 or 128 bytes.
  static constexpr unsigned logits_in_flight = 4 * pack_elements;
  static constexpr unsigned chunks_in_flight = split_chunks < 2 ? 1 : 2;
  static constexpr unsigned lanes_a_row = 8;

  struct Unit {
    unsigned request;
    unsigned row;  ///< rows(): a choice unit
    unsigned split;
  };

  struct Position {
    double uniform;
    float target_logit;  ///< of the draft
    float draft_logit;
    SoftmaxPart target;
    SoftmaxPart draft;
    std::uint32_t accepted;
    std::uint32_t fault;
  };

  struct Shared {
    SoftmaxPart of_warps[max_threads / warp_lanes];
    WeightSums of_chunks[warp_lanes];
    float weights[chunk_tokens + warp_lanes];
    std::uint32_t ticket;
    std::uint32_t last;
  };

  template <class Block>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static Shared& shared(Block& block) {
    return *reinterpret_cast<Shared*>(block.shared());
  }
  template <class Block>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE static Position* positions(Block& block) {
    static_assert(sizeof(Shared) % alignof(Position) == 0);
    return reinterpret_cast<Position*>(block.shared() + sizeof(Shared));
  }
  template <class Block>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE WeightSums* of_splits(Block& block) const {
    return reinterpret_cast<WeightSums*>(positions(block) + input.gamma + 1);
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned splits() const { return divide_up(input.vocabulary, split_tokens); }
  /// Number of rows of a request with row units.
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned rows() const { return 2 * input.gamma + 1; }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned units_of_request() const {
    return splits() * (units == FusedExactUnits::all ? rows() + 1 : units == FusedExactUnits::rows ? rows() : 1);
  }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE const Storage* target_row(unsigned request, unsigned position) const {
    return input.target_logits + (static_cast<std::int64_t>(request) * (input.gamma + 1) + position) * input.vocabulary;
  }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE const Storage* draft_row(unsigned request, unsigned position) const {
    return input.draft_logits + (static_cast<std::int64_t>(request) * input.gamma + position) * input.vocabulary;
  }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE SoftmaxPart* parts_of(unsigned request, unsigned row) const {
    return workspace.parts + (static_cast<std::int64_t>(request) * rows() + row) * splits();
  }
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned end_of(unsigned split) const {
    return input.vocabulary - split * split_tokens < split_tokens ? input.vocabulary : (split + 1) * split_tokens;
  }

  /// The block's index in the order of units.
  template <class Block>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned number_of(Block& block) const {
    if constexpr (units != FusedExactUnits::all) {
      return block.block();
    } else {
      if (block.thread() == 0) {
        const std::uint32_t ticket = block.atomic_add(workspace.tickets, 1U);
        if (ticket == block.blocks() - 1) *workspace.tickets = 0;
        shared(block).ticket = ticket;
      }
      block.sync();
      return shared(block).ticket;
    }
  }

  [[nodiscard]] FOREDRAFT_HOST_DEVICE Unit unit_of(unsigned number) const {
    const unsigned choice = rows() * splits();  // index of the first choice unit among a request's units
    const auto unit = [&](unsigned request, unsigned within) {
      return Unit{request, within / splits(), within % splits()};
    };
    if constexpr (units == FusedExactUnits::rows) return unit(number / choice, number % choice);
    if constexpr (units == FusedExactUnits::choices) return unit(number / splits(), choice + number % splits());
    unsigned ahead = divide_up(row_units_ahead, choice);
    if (ahead > input.batch) ahead = input.batch;
    if (number < ahead * choice) return unit(number / choice, number % choice);
    number -= ahead * choice;
    const unsigned both = choice + splits();
    if (number < (input.batch - ahead) * both) {
      const unsigned within = number % both;
      return unit(number / both + (within < choice ? ahead : 0), within);
    }
    number -= (input.batch - ahead) * both;
    return unit(input.batch - ahead + number / splits(), choice + number % splits());
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void take_row(Block& block, const Unit& unit) const {
    constexpr unsigned n = width_of_access;
    const bool of_drafter = unit.row > input.gamma;
    const unsigned position = of_drafter ? unit.row - input.gamma - 1 : unit.row;
    const unsigned count = draft_count(block, input, unit.request);
    if (of_drafter ? position >= count : position > count) return;
    const Storage* row = of_drafter ? draft_row(unit.request, position) : target_row(unit.request, position);
    const unsigned end = end_of(unit.split);

    SoftmaxPart part;
    for (unsigned first = unit.split * split_tokens + block.thread() * n; first < end;
         first += block.threads() * logits_in_flight) {
      float logits[logits_in_flight];
      FOREDRAFT_UNROLL
      for (unsigned u = 0; u < logits_in_flight / n; ++u) {
        const unsigned at = first + u * block.threads() * n;
        float values[n];
        FOREDRAFT_UNROLL
        for (unsigned j = 0; j < n; ++j) values[j] = -std::numeric_limits<float>::infinity();
        if (at < end) load<n>(row + at, values);
        FOREDRAFT_UNROLL
        for (unsigned j = 0; j < n; ++j) logits[u * n + j] = values[j];
      }
      add_logits(logits, part);
    }
    part = block_merged(block, part, shared(block).of_warps);
    if (block.thread() != 0) return;
    parts_of(unit.request, unit.row)[unit.split] = part;
    if constexpr (units == FusedExactUnits::all) {
      block.fence();
      static_cast<void>(block.atomic_add(workspace.rows_done + unit.request, 1U));
    }
  }

  template <class Block>
  FOREDRAFT_HOST_DEVICE void take_choice(Block& block, const Unit& unit) const {
    const unsigned count = draft_count(block, input, unit.request);
    const std::int32_t* drafts = input.drafts + static_cast<std::int64_t>(unit.request) * input.gamma;
    Position* at = positions(block);
    for (unsigned i = block.thread(); i < count; i += block.threads()) {
      at[i].uniform = draw_uniform(input.draws, Purpose::accept, unit.request, i);
      at[i].target_logit = to_float(target_row(unit.request, i)[drafts[i]]);
      at[i].draft_logit = to_float(draft_row(unit.request, i)[drafts[i]]);
    }
    if constexpr (units == FusedExactUnits::all) {
      if (block.thread() == 0) block.wait_until(workspace.rows_done + unit.request, (2 * count + 1) * splits());
    }
    block.sync();
    decide(block, unit.request, count);
    block.sync();
    const unsigned accepted = first_where(block, count, [at](unsigned i) { return at[i].accepted == 0; });

    sum_weights(block, unit, accepted, count);
    if (!comes_last(block, splits(), workspace.choices_done + unit.request, &shared(block).last)) return;
    if constexpr (units == FusedExactUnits::all) {
      if (block.thread() == 0) workspace.rows_done[unit.request] = 0;
    }

    const WeightSums* left = workspace.split_sums + static_cast<std::int64_t>(unit.request) * splits();
    for (unsigned i = block.thread(); i < splits(); i += block.threads()) of_splits(block)[i] = left[i];
    block.sync();
    const unsigned token = draw(block, unit.request, accepted, count);
    const bool split_fault =
        first_where(block, splits(), [&](unsigned i) { return of_splits(block)[i].fault != 0; }) < splits();
    const bool row_fault = first_where(block, count + 1, [at](unsigned i) { return at[i].fault != 0; }) <= count;
    std::int32_t* tokens = output.tokens + static_cast<std::int64_t>(unit.request) * (input.gamma + 1);
    for (unsigned i = block.thread(); i <= input.gamma; i += block.threads()) {
      tokens[i] = i < accepted ? drafts[i] : i == accepted ? static_cast<std::int32_t>(token) : no_token;
    }
    if (block.thread() == 0) {
      output.emitted_counts[unit.request] = static_cast<std::int32_t>(accepted + 1);
      output.faults[unit.request] = split_fault || row_fault ? 1U : 0U;
    }
  }

  /// Merges the parts of the request's rows and determines which drafts are accepted if tested.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void decide(Block& block, unsigned request, unsigned count) const {
    const unsigned group = block.thread() / lanes_a_row;
    const unsigned groups = block.threads() / lanes_a_row;
    for (unsigned base = 0; base <= count; base += groups) {
      const unsigned i = base + group;
      const SoftmaxPart target = row_softmax(block, i <= count, request, i);
      const SoftmaxPart draft = row_softmax(block, i < count, request, input.gamma + 1 + i);
      if (i > count || block.thread() % lanes_a_row != 0) continue;
      Position& at = positions(block)[i];
      at.target = target;
      at.draft = draft;
      bool fault = target.fault != 0 || !(target.sum > 0.0F);
      if (i < count) {
        const double log_p = log_probability(clean_logit(at.target_logit), target);
        const double log_q = log_probability(clean_logit(at.draft_logit), draft);
        const bool possible = log_p > -std::numeric_limits<double>::infinity();
        at.accepted = possible && (log_p >= log_q || at.uniform < std::exp(log_p - log_q)) ? 1U : 0U;
        fault = fault || draft.fault != 0 || !(draft.sum > 0.0F) || is_faulty(at.draft_logit);
      }
      at.fault = fault ? 1U : 0U;
    }
  }

  /// The softmax over a row from its parts, in all of its lanes. All lanes of a warp must call it.
  template <class Block>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE SoftmaxPart row_softmax(Block& block, bool present, unsigned request,
                                                              unsigned row) const {
    SoftmaxPart part;
    if (present) {
      const SoftmaxPart* parts = parts_of(request, row);
      for (unsigned i = block.thread() % lanes_a_row; i < splits(); i += lanes_a_row) part = merged(part, parts[i]);
    }
    return lane_merged(block, part, lanes_a_row);
  }

  template <class Block>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE DrawnRow<Storage> drawn_row(Block& block, unsigned request, unsigned accepted,
                                                                  unsigned count) const {
    const Position& at = positions(block)[accepted];
    return {.target = target_row(request, accepted),
            .draft = accepted < count ? draft_row(request, accepted) : nullptr,
            .target_softmax = RowSoftmax(at.target),
            .draft_softmax = RowSoftmax(at.draft)};
  }

  /// Writes the sums of this split's chunks, and their sum, to the workspace.
  template <class Block>
  FOREDRAFT_HOST_DEVICE void sum_weights(Block& block, const Unit& unit, unsigned accepted, unsigned count) const {
    const DrawnRow<Storage> row = drawn_row(block, unit.request, accepted, count);
    const unsigned warps = block.threads() / warp_lanes;
    const unsigned lane = block.thread() % warp_lanes;
    const unsigned end = end_of(unit.split);
    const std::int64_t split = static_cast<std::int64_t>(unit.request) * splits() + unit.split;
    WeightSums* of_chunks = shared(block).of_chunks;
    for (unsigned chunk = block.thread() / warp_lanes; chunk < split_chunks; chunk += warps * chunks_in_flight) {
      TokenWeights weights[chunks_in_flight];
      weigh<width_of_access>(row, unit.split * split_tokens + chunk * chunk_tokens + lane * pack_elements,
                             warps * chunk_tokens, end, weights);
      FOREDRAFT_UNROLL
      for (unsigned c = 0; c < chunks_in_flight; ++c) {
        const WeightSums sums{.residual = chunk_sum(block, weights[c].residual),
                              .target = chunk_sum(block, weights[c].target),
                              .fault = lane_any(block, weights[c].fault)};
        const unsigned number = chunk + c * warps;
        if (lane == 0 && number < split_chunks) {
          of_chunks[number] = sums;
          workspace.chunk_sums[split * split_chunks + number] = sums;
        }
      }
    }
    block.sync();
    if (block.thread() >= warp_lanes) return;
    const WeightSums mine = lane < split_chunks ? of_chunks[lane] : WeightSums{};
    const WeightSums sums{.residual = lane_sum(block, mine.residual),
                          .target = lane_sum(block, mine.target),
                          .fault = lane_any(block, mine.fault)};
    if (lane == 0) workspace.split_sums[split] = sums;
  }

  /// The token after the accepted drafts, from the sums of all splits.
  template <class Block>
  [[nodiscard]] FOREDRAFT_HOST_DEVICE unsigned draw(Block& block, unsigned request, unsigned accepted,
                                                    unsigned count) const {
    const WeightSums* sums = of_splits(block);
    double residual = 0.0;
    double target = 0.0;
    for (unsigned i = 0; i < splits(); ++i) {
      residual += static_cast<double>(sums[i].residual);
      target += static_cast<double>(sums[i].target);
    }
    const bool from_residual = residual > 0.0;
    const auto weight_of = [from_residual](const WeightSums& of) { return from_residual ? of.residual : of.target; };
    const Purpose purpose = accepted < count ? Purpose::replacement : Purpose::bonus_token;
    const double threshold =
        draw_uniform(input.draws, purpose, request, accepted) * (from_residual ? residual : target);

    const Choice split = choose(splits(), threshold, [&](unsigned i) { return weight_of(sums[i]); });
    WeightSums* of_chunks = shared(block).of_chunks;
    if (block.thread() < split_chunks) {
      of_chunks[block.thread()] =
          workspace.chunk_sums[(static_cast<std::int64_t>(request) * splits() + split.index) * split_chunks +
                               block.thread()];
    }
    block.sync();
    const Choice chunk = choose(split_chunks, split.rest, [&](unsigned i) { return weight_of(of_chunks[i]); });

    const unsigned first = split.index * split_tokens + chunk.index * chunk_tokens;
    TokenWeights weights[1] = {};
    if (block.thread() < warp_lanes) {
      weigh<width_of_access>(drawn_row(block, request, accepted, count), first + block.thread() * pack_elements, 0,
                             end_of(split.index), weights);
    }
    float chosen[pack_elements];
    FOREDRAFT_UNROLL
    for (unsigned j = 0; j < pack_elements; ++j) {
      chosen[j] = from_residual ? weights[0].residual[j] : weights[0].target[j];
    }
    return first + choose_in_chunk(block, chosen, chunk.rest, shared(block).weights);
  }
};

/// Tokens of a split: at most a chunk for each lane of a warp. 256 threads hold them with 32 logits each.
inline constexpr unsigned fused_exact_split_tokens = warp_lanes * chunk_tokens;

namespace detail {

template <unsigned split_tokens>
[[nodiscard]] FusedExactWorkspace fused_exact_workspace(std::int64_t batch, std::int64_t gamma, unsigned vocabulary,
                                                        WorkspaceCutter& cutter) {
  const std::int64_t splits = divide_up(vocabulary, split_tokens);
  std::uint32_t* counters = cutter.counters(1 + 2 * batch);
  return {.parts = cutter.packed<SoftmaxPart>(batch * (2 * gamma + 1) * splits),
          .split_sums = cutter.packed<WeightSums>(batch * splits),
          .chunk_sums = cutter.packed<WeightSums>(batch * splits * (split_tokens / chunk_tokens)),
          .tickets = counters,
          .rows_done = counters + 1,
          .choices_done = counters + 1 + batch};
}

template <unsigned split_tokens, FusedExactUnits units, class Storage, class Launcher>
void launch_fused_exact(const VerificationInput<Storage>& input, const VerificationOutput& output,
                        const FusedExactWorkspace& workspace, Launcher& launcher, unsigned threads) {
  with_width(input.vocabulary, [&](auto width) {
    launcher.launch(FusedExactKernel<Storage, width.value, split_tokens, units>{input, output, workspace, threads});
  });
}

}  // namespace detail

/// Rejection sampling in one launch. Logits begin at multiples of 16 bytes. Tests divide small vocabularies into splits
/// and run small blocks.
template <unsigned split_tokens = fused_exact_split_tokens, class Storage, class Launcher>
void fused_exact(const VerificationInput<Storage>& input, const VerificationOutput& output, WorkspaceCutter& cutter,
                 Launcher& launcher, unsigned threads = 256) {
  const auto workspace =
      detail::fused_exact_workspace<split_tokens>(input.batch, input.gamma, input.vocabulary, cutter);
  detail::launch_fused_exact<split_tokens, FusedExactUnits::all>(input, output, workspace, launcher, threads);
}

/// The same tokens, bit for bit, in two launches.
template <unsigned split_tokens = fused_exact_split_tokens, class Storage, class Launcher>
void fused_exact_two_launches(const VerificationInput<Storage>& input, const VerificationOutput& output,
                              WorkspaceCutter& cutter, Launcher& launcher, unsigned threads = 256) {
  const auto workspace =
      detail::fused_exact_workspace<split_tokens>(input.batch, input.gamma, input.vocabulary, cutter);
  detail::launch_fused_exact<split_tokens, FusedExactUnits::rows>(input, output, workspace, launcher, threads);
  detail::launch_fused_exact<split_tokens, FusedExactUnits::choices>(input, output, workspace, launcher, threads);
}

}  // namespace foredraft::gpu_bench
