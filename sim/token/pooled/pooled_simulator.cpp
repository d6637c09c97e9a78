// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "sim/simulator.hpp"
#include "sim/token/pooled/block_iterations.hpp"
#include "sim/token/pooled/candidate_wave.hpp"
#include "sim/token/pooled/pooled_tables.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/token_simulator.hpp"

namespace foredraft::sim {
namespace {

constexpr std::uint64_t pooled_block_size = 4096;

/// Iterations of one wave at the same position, and the token each emits there: parallel arrays.
struct Wave {
  std::vector<std::uint32_t> iterations;
  std::vector<std::uint32_t> contexts;
  std::vector<Token> tokens;

  explicit Wave(std::size_t capacity) : iterations(capacity), contexts(capacity), tokens(capacity) {}
};

/// One block: all its iterations go through position 1 together, the survivors through position 2, and so on. This
/// turns the chain of cache misses of one iteration into independent ones that can be prefetched.
class PooledBlock {
 public:
  /// `emitted`: receives every emitted token by iteration, unless it is null.
  PooledBlock(const PooledTables& tables, const RunKey& key, std::uint64_t block, std::size_t iterations,
              EmittedTokens* emitted)
      : tables_(tables),
        emitted_(emitted),
        context_words_(key, Purpose::context, block),
        draft_words_(key, Purpose::draft_token, block),
        accept_words_(key, Purpose::accept, block),
        replacement_words_(key, Purpose::replacement, block),
        bonus_words_(key, Purpose::bonus_token, block),
        candidate_words_(key, Purpose::candidate, block),
        alive_(iterations),
        rejected_(iterations),
        slots_(iterations + prefetch_distance),
        shares_(iterations),
        alive_count_(iterations),
        stop_(key.stop) {
    for (std::uint32_t i = 0; i < iterations; ++i) alive_.iterations[i] = i;
    if (tables.candidates() != nullptr) candidates_.emplace(tables, key, block);
  }

  /// Number of iterations that accepted exactly k drafts, k = 0..gamma.
  std::vector<std::uint64_t> run(std::int64_t gamma, Convention convention) {
    std::vector<std::uint64_t> accepted_counts(static_cast<std::size_t>(gamma) + 1, 0);
    for (std::int64_t i = 0; i < gamma && alive_count_ > 0; ++i) {
      stop_.spend(static_cast<std::int64_t>(alive_count_));
      if (candidates_) {
        const std::size_t rejected = try_further_candidates(draft_position<true>());
        accepted_counts[static_cast<std::size_t>(i)] = rejected;
        emit(alive_, alive_count_);
        emit(rejected_, rejected);
      } else {
        std::size_t rejected = draft_position<false>();
        for (std::int64_t tried = 1; tried < tables_.scheme().count && rejected > 0; ++tried) {
          rejected = draft_again(rejected);
        }
        accepted_counts[static_cast<std::size_t>(i)] = rejected;
        emit(alive_, alive_count_);
        emit_last(tables_.replacement(), replacement_words_, rejected_, rejected);
      }
    }
    accepted_counts.back() = alive_count_;
    if (convention == Convention::bonus) {
      meet_contexts();
      emit_last(tables_.bonus(), bonus_words_, alive_, alive_count_);
    }
    return accepted_counts;
  }

 private:
  void emit(const Wave& wave, std::size_t count) {
    if (emitted_ == nullptr) return;
    for (std::size_t j = 0; j < count; ++j) {
      (*emitted_)[wave.iterations[j]].push_back({.token = wave.tokens[j], .context = wave.contexts[j]});
    }
  }

  /// Draws the context of the new position for every live iteration.
  void meet_contexts() {
    const std::span words = context_words_.next(alive_count_);
    for (std::size_t j = 0; j < alive_count_; ++j) {
      alive_.contexts[j] = static_cast<std::uint32_t>((Uint128{words[j]} * tables_.contexts()) >> 64U);
    }
  }

  /// Table locations of the draws of a wave.
  void locate(const Wave& wave, std::span<const std::uint64_t> words) {
    for (std::size_t j = 0; j < words.size(); ++j) {
      const SlotDraw draw = slot_draw(words[j], tables_.vocabulary());
      slots_[j] = wave.contexts[j] * tables_.vocabulary() + draw.slot;
      shares_[j] = draw.share;
    }
    std::fill_n(slots_.begin() + static_cast<std::ptrdiff_t>(words.size()), prefetch_distance, 0);
  }

  /// Drafts and tests one token in every iteration of alive_; returns how many went to rejected_, with their tokens if
  /// kept.
  template <bool keep_rejected_tokens>
  std::size_t draft_position() {
    meet_contexts();
    locate(alive_, draft_words_.next(alive_count_));
    const std::span uniforms = accept_words_.next(alive_count_);
    const DraftSlot* table = tables_.draft().data();
    const std::size_t vocabulary = tables_.vocabulary();
    std::size_t accepted = 0;
    std::size_t rejected = 0;
    for (std::size_t j = 0; j < alive_count_; ++j) {
      __builtin_prefetch(table + slots_[j + prefetch_distance]);
      const DraftSlot slot = table[slots_[j]];
      const std::uint32_t iteration = alive_.iterations[j];
      const std::uint32_t context = alive_.contexts[j];
      const bool own = keeps_own(slot.alias, shares_[j]);
      const std::size_t token = own ? slots_[j] - context * vocabulary : alias_of(slot.alias);
      const std::uint32_t threshold = own ? slot.accept_own : slot.accept_alias;
      const bool accept = accepts(uniforms[j], threshold);
      // Written to both waves, kept in one: no branch to mispredict. accepted <= j, so nothing unread is overwritten.
      rejected_.iterations[rejected] = iteration;
      rejected_.contexts[rejected] = context;
      if constexpr (keep_rejected_tokens) rejected_.tokens[rejected] = static_cast<Token>(token);
      alive_.iterations[accepted] = iteration;
      alive_.contexts[accepted] = context;
      alive_.tokens[accepted] = static_cast<Token>(token);
      accepted += accept ? 1 : 0;
      rejected += accept ? 0 : 1;
    }
    alive_count_ = accepted;
    return rejected;
  }

  /// Tests one more candidate, as the first was, where one was rejected: those accepted return to alive_; returns how
  /// many remain.
  std::size_t draft_again(std::size_t rejected) {
    locate(rejected_, candidate_words_.next(rejected));
    const std::span uniforms = candidate_words_.next(rejected);
    std::size_t kept = 0;
    for (std::size_t j = 0; j < rejected; ++j) {
      __builtin_prefetch(tables_.draft().data() + slots_[j + prefetch_distance]);
      const DraftSlot slot = tables_.draft()[slots_[j]];
      const bool own = keeps_own(slot.alias, shares_[j]);
      const bool accept = accepts(uniforms[j], own ? slot.accept_own : slot.accept_alias);
      const std::size_t token = own ? slots_[j] - rejected_.contexts[j] * tables_.vocabulary() : alias_of(slot.alias);
      Wave& wave = accept ? alive_ : rejected_;
      const std::size_t place = accept ? alive_count_++ : kept++;
      wave.iterations[place] = rejected_.iterations[j];
      wave.contexts[place] = rejected_.contexts[j];
      wave.tokens[place] = static_cast<Token>(token);
    }
    return kept;
  }

  /// Further candidates of rejected_: those accepted return to alive_; returns how many remain, with the token they
  /// emit.
  std::size_t try_further_candidates(std::size_t rejected) {
    const std::span tokens = std::span(rejected_.tokens).first(rejected);
    const std::span accepted = candidates_->try_all(std::span(rejected_.contexts).first(rejected), tokens);
    std::size_t kept = 0;
    for (std::size_t j = 0; j < rejected; ++j) {
      Wave& wave = accepted[j] == 1 ? alive_ : rejected_;
      const std::size_t place = accepted[j] == 1 ? alive_count_++ : kept++;
      wave.iterations[place] = rejected_.iterations[j];
      wave.contexts[place] = rejected_.contexts[j];
      wave.tokens[place] = rejected_.tokens[j];
    }
    return kept;
  }

  /// Draws the last token of every iteration of a wave from its context's row of `table`.
  void emit_last(const std::vector<AliasSlot>& table, WordSource& words, Wave& wave, std::size_t count) {
    locate(wave, words.next(count));
    for (std::size_t j = 0; j < count; ++j) {
      __builtin_prefetch(table.data() + slots_[j + prefetch_distance]);
      const AliasSlot slot = table[slots_[j]];
      const std::size_t own = slots_[j] - wave.contexts[j] * tables_.vocabulary();
      wave.tokens[j] = static_cast<Token>(keeps_own(slot, shares_[j]) ? own : alias_of(slot));
    }
    emit(wave, count);
  }

  const PooledTables& tables_;
  EmittedTokens* emitted_;
  WordSource context_words_;
  WordSource draft_words_;
  WordSource accept_words_;
  WordSource replacement_words_;
  WordSource bonus_words_;
  WordSource candidate_words_;  ///< of candidates that are tested alike
  std::optional<CandidateWave> candidates_;
  Wave alive_;
  Wave rejected_;
  std::vector<std::size_t> slots_;
  std::vector<std::uint64_t> shares_;
  std::size_t alive_count_;
  StopMeter stop_;
};

}  // namespace

std::unique_ptr<Simulator> make_pooled_simulator(PooledTables tables, const IterationShape& shape,
                                                 std::uint64_t iterations) {
  // Drafts that are verified together have no acceptance of their own.
  const bool blocks = tables.verifies_blocks() && shape.gamma > 1;
  const PoolAcceptance acceptance{.expected = blocks ? unknown<double> : tables.expected_acceptance(),
                                  .optimal = tables.optimal_acceptance()};
  return std::make_unique<TokenSimulator>(
      plan_blocks("iterations", iterations, pooled_block_size), shape, acceptance,
      [tables = std::make_shared<const PooledTables>(std::move(tables)), shape](
          const RunKey& key, std::uint64_t block, std::uint64_t count, EmittedTokens* emitted) {
        if (tables->verifies_blocks()) return run_block_iterations(*tables, key, block, shape, count, emitted);
        return PooledBlock(*tables, key, block, count, emitted).run(shape.gamma, shape.convention);
      });
}

}  // namespace foredraft::sim
