// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "sim/simulator.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/pooled/block_iterations.hpp"
#include "sim/token/pooled/pooled_tables.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/token/token_simulator.hpp"
#include "sim/uniform_index.hpp"

namespace foredraft::sim {
namespace {

constexpr std::uint64_t pooled_block_size = 4096;

/// Iterations at the same position and their tokens, as parallel arrays.
struct Wave {
  std::vector<std::uint32_t> iterations;
  std::vector<std::uint32_t> contexts;
  std::vector<Token> tokens;

  explicit Wave(std::size_t capacity) : iterations(capacity), contexts(capacity), tokens(capacity) {}
};

/// With less than this remainder of q, or after this many draws from the first residual, explicit distributions are
/// faster.
constexpr double min_rest = 0x1.0p-6;
constexpr int max_residual_draws = 1000;

AliasSlot alias_slot(const DraftSlot& slot) { return slot.alias; }
AliasSlot alias_slot(AliasSlot slot) { return slot; }

/// Tries the candidates after the first for many positions at a time, so that cache misses overlap.
///
/// Every residual of recursive rejection has the form max(0, p - c q) (ResidualMass), so a position stores the number c
/// instead of a distribution. A candidate is tested in constant or logarithmic time, and a token of the last residual
/// is found by rejection from the first one. Only a nearly exhausted q needs O(V) work.
class CandidateWave {
 public:
  /// Requires tables.candidates().
  CandidateWave(const PooledTables& tables, const RunKey& key, std::uint64_t block);

  /// The first of `count` candidates, tokens[j], of a position in contexts[j] was rejected. Replaces it by the token
  /// that the position emits; entry j of the result is 1 for an accepted candidate. Valid until the next call.
  std::span<const std::uint8_t> try_all(std::span<const std::uint32_t> contexts, std::span<Token> tokens,
                                        std::size_t count);

 private:
  /// Not emitted yet: residual max(0, p - c q) / mass, next candidate from q / rest over the tokens not yet rejected.
  struct Position {
    std::uint32_t index;  ///< j
    std::uint32_t context;
    double c;
    double mass;
    double rest;
  };

  void begin(std::span<const std::uint32_t> contexts, std::span<const Token> tokens);
  /// Every pending position tries candidate number `tried` + 1; those that reject it stay pending.
  void try_candidate(std::size_t tried, std::span<Token> tokens);
  /// Every pending position emits a token of its residual, by rejection from max(0, p - q).
  void draw_from_last_residual(std::span<Token> tokens);

  /// Draws a token of every pending position into drawn_, and prefetches its probabilities.
  template <class Slot>
  void draw(const std::vector<Slot>& table);
  /// The same only for the positions in drawing_.
  template <class Slot>
  void draw_again(const std::vector<Slot>& table);
  /// Redraws candidates, all together, until none is a token that its position has rejected.
  void redraw_rejected(std::size_t tried);
  void emit_by_distributions(const Position& position, std::size_t tried, std::span<Token> tokens);

  [[nodiscard]] std::size_t place(const Position& position, Token token) const {
    return position.context * tables_.vocabulary() + static_cast<std::size_t>(token);
  }
  [[nodiscard]] bool is_rejected(const Position& position, Token token, std::size_t tried) const;

  const PooledTables& tables_;
  const PooledCandidates& candidates_;
  std::size_t count_ = 0;  ///< candidates of the position
  bool distinct_;          ///< drawn without replacement
  WordSource words_;
  RandomStream late_;
  std::vector<Position> pending_;
  std::vector<std::uint32_t> drawing_;  ///< indices into pending_
  std::vector<std::size_t> slots_;
  std::vector<std::uint64_t> shares_;
  std::vector<Token> drawn_;
  std::vector<Token> rejected_;  ///< position j's rejected candidates, in order, from j * count_ on
  std::vector<std::uint8_t> accepted_;
};

CandidateWave::CandidateWave(const PooledTables& tables, const RunKey& key, std::uint64_t block)
    : tables_(tables),
      candidates_(*tables.candidates()),
      distinct_(candidates_.scheme().draws == CandidateDraws::without_replacement),
      words_(key, Purpose::candidate, block),
      late_(key.seed, {.purpose = Purpose::late_candidate, .point = key.point, .block = block}) {}

std::span<const std::uint8_t> CandidateWave::try_all(std::span<const std::uint32_t> contexts, std::span<Token> tokens,
                                                     std::size_t count) {
  count_ = count;
  begin(contexts, tokens);
  for (std::size_t tried = 1; tried < count_ && !pending_.empty(); ++tried) try_candidate(tried, tokens);
  draw_from_last_residual(tokens);
  return accepted_;
}

void CandidateWave::begin(std::span<const std::uint32_t> contexts, std::span<const Token> tokens) {
  accepted_.assign(contexts.size(), 0);
  rejected_.resize(contexts.size() * count_);
  pending_.resize(contexts.size());
  for (std::uint32_t j = 0; j < contexts.size(); ++j) {
    pending_[j] = {
        .index = j, .context = contexts[j], .c = 1.0, .mass = candidates_.first_mass(contexts[j]), .rest = 1.0};
    rejected_[j * count_] = tokens[j];
    if (distinct_) __builtin_prefetch(&candidates_.pairs()[place(pending_[j], tokens[j])]);
  }
  if (!distinct_) return;
  for (Position& position : pending_) {
    position.rest = 1.0 - candidates_.pairs()[place(position, tokens[position.index])].draft;
  }
}

template <class Slot>
void CandidateWave::draw(const std::vector<Slot>& table) {
  drawing_.resize(pending_.size());
  std::iota(drawing_.begin(), drawing_.end(), 0U);
  drawn_.resize(pending_.size());
  draw_again(table);
}

template <class Slot>
void CandidateWave::draw_again(const std::vector<Slot>& table) {
  const std::span words = words_.next(drawing_.size());
  slots_.assign(drawing_.size() + prefetch_distance, 0);
  shares_.resize(drawing_.size());
  for (std::size_t i = 0; i < drawing_.size(); ++i) {
    const SlotDraw drawn = slot_draw(words[i], tables_.vocabulary());
    slots_[i] = place(pending_[drawing_[i]], static_cast<Token>(drawn.slot));
    shares_[i] = drawn.share;
  }
  for (std::size_t i = 0; i < drawing_.size(); ++i) {
    __builtin_prefetch(table.data() + slots_[i + prefetch_distance]);
    const Position& position = pending_[drawing_[i]];
    const AliasSlot slot = alias_slot(table[slots_[i]]);
    const std::size_t own = slots_[i] - position.context * tables_.vocabulary();
    const auto token = static_cast<Token>(keeps_own(slot, shares_[i]) ? own : alias_of(slot));
    drawn_[drawing_[i]] = token;
    __builtin_prefetch(&candidates_.pairs()[place(position, token)]);
  }
}

void CandidateWave::redraw_rejected(std::size_t tried) {
  for (;;) {
    std::erase_if(drawing_, [&](std::uint32_t j) { return !is_rejected(pending_[j], drawn_[j], tried); });
    if (drawing_.empty()) return;
    draw_again(tables_.draft());
  }
}

void CandidateWave::try_candidate(std::size_t tried, std::span<Token> tokens) {
  if (distinct_) {
    std::erase_if(pending_, [&](const Position& position) {
      if (position.rest >= min_rest) return false;
      emit_by_distributions(position, tried, tokens);
      return true;
    });
  }
  draw(tables_.draft());
  if (distinct_) redraw_rejected(tried);
  const std::span uniforms = words_.next(pending_.size());
  const bool last = tried + 1 == count_;
  std::size_t kept = 0;
  for (std::size_t j = 0; j < pending_.size(); ++j) {
    Position position = pending_[j];
    const Token token = drawn_[j];
    const auto [p, q] = candidates_.pairs()[place(position, token)];
    // U < r / d with r = max(0, p - c q) / mass and d = q / rest.
    const bool accept = unit_uniform(uniforms[j]) * q * position.mass < (p - position.c * q) * position.rest;
    accepted_[position.index] = accept ? 1 : 0;
    tokens[position.index] = token;
    if (accept) continue;
    rejected_[position.index * count_ + tried] = token;
    position.c += position.mass / position.rest;
    if (!last) candidates_.prefetch_mass(position.context, position.c);
    if (distinct_) position.rest -= q;
    pending_[kept++] = position;
  }
  pending_.resize(kept);
  if (last) return;
  for (Position& position : pending_) position.mass = candidates_.mass(position.context, tried + 1, position.c);
}

void CandidateWave::draw_from_last_residual(std::span<Token> tokens) {
  for (int draws = 0; draws < max_residual_draws && !pending_.empty(); ++draws) {
    draw(tables_.replacement());
    const std::span uniforms = words_.next(pending_.size());
    std::size_t kept = 0;
    for (std::size_t j = 0; j < pending_.size(); ++j) {
      const Position position = pending_[j];
      const auto [p, q] = candidates_.pairs()[place(position, drawn_[j])];
      tokens[position.index] = drawn_[j];
      pending_[kept] = position;
      kept += unit_uniform(uniforms[j]) * (p - q) < p - position.c * q ? 0U : 1U;
    }
    pending_.resize(kept);
  }
  for (const Position& position : pending_) emit_by_distributions(position, count_, tokens);
  pending_.clear();
}

bool CandidateWave::is_rejected(const Position& position, Token token, std::size_t tried) const {
  const std::span row = std::span(rejected_).subspan(position.index * count_, tried);
  return std::find(row.begin(), row.end(), token) != row.end();
}

void CandidateWave::emit_by_distributions(const Position& position, std::size_t tried, std::span<Token> tokens) {
  std::vector<double> target;
  std::vector<double> draft;
  for (std::size_t x = 0; x < tables_.vocabulary(); ++x) {
    const auto [p, q] = candidates_.pairs()[place(position, static_cast<Token>(x))];
    target.push_back(p);
    draft.push_back(q);
  }
  const std::span rejected = std::span(rejected_).subspan(position.index * count_, tried);
  const CandidateScheme scheme{.count = static_cast<std::int64_t>(count_), .draws = candidates_.scheme().draws};
  const FurtherOutcome outcome = try_further_candidates({.target = target, .draft = draft}, scheme, rejected, late_);
  accepted_[position.index] = outcome.accepted ? 1 : 0;
  tokens[position.index] = outcome.token;
}

/// One block. All iterations process position 1 together, the surviving ones position 2, and so on. This makes cache
/// misses independent, so that they can be prefetched.
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
        const std::size_t first_rejected = draft_position<true>();
        const auto count = static_cast<std::size_t>(tables_.candidate_count(static_cast<std::size_t>(i)));
        const std::size_t rejected = try_further_candidates(first_rejected, count);
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

  /// Draws the context of the next position for every live iteration.
  void meet_contexts() {
    const std::span words = context_words_.next(alive_count_);
    for (std::size_t j = 0; j < alive_count_; ++j) {
      alive_.contexts[j] = static_cast<std::uint32_t>(uniform_index(words[j], tables_.contexts()));
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
      // Written to both waves and kept in one, to avoid a branch. accepted <= j, so no unread entry is overwritten.
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

  /// Tests one more candidate, like the first, in iterations that rejected one. Accepted iterations return to alive_.
  /// Returns how many remain.
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

  /// Tries the further candidates of rejected_ (`count` including the first). Accepted iterations return to alive_.
  /// Returns how many remain, with the token they emit.
  std::size_t try_further_candidates(std::size_t rejected, std::size_t count) {
    const std::span tokens = std::span(rejected_.tokens).first(rejected);
    const std::span accepted = candidates_->try_all(std::span(rejected_.contexts).first(rejected), tokens, count);
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
  WordSource candidate_words_;  ///< for candidates that are tested alike
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
  // Drafts that are verified together have no individual acceptance.
  const bool blocks = tables.blocks() != nullptr && shape.gamma > 1;
  const PoolAcceptance acceptance{.expected = blocks ? unknown<double> : tables.expected_acceptance(),
                                  .optimal = tables.optimal_acceptance()};
  return std::make_unique<TokenSimulator>(
      plan_blocks("iterations", iterations, pooled_block_size), shape, acceptance,
      [tables = std::make_shared<const PooledTables>(std::move(tables)), shape](
          const RunKey& key, std::uint64_t block, std::uint64_t count, EmittedTokens* emitted) {
        if (tables->blocks() != nullptr) return run_block_iterations(*tables, key, block, shape, count, emitted);
        return PooledBlock(*tables, key, block, count, emitted).run(shape.gamma, shape.convention);
      });
}

}  // namespace foredraft::sim
