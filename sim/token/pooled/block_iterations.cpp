// SPDX-License-Identifier: Apache-2.0
#include "sim/token/pooled/block_iterations.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

#include "core/parallel.hpp"
#include "core/random_stream.hpp"
#include "sim/token/distribution/block_verification.hpp"
#include "sim/token/rows/row_operations.hpp"
#include "sim/uniform_index.hpp"

namespace foredraft::sim {
namespace {

/// Number of attempts by rejection before inversion is faster.
constexpr int max_rounds = 4;

class BlockIterations {
 public:
  BlockIterations(const PooledTables& tables, const RunKey& key, std::uint64_t block, std::size_t count,
                  EmittedTokens* emitted)
      : tables_(tables),
        blocks_(*tables.blocks()),
        emitted_(emitted),
        context_words_(key, Purpose::context, block),
        draft_words_(key, Purpose::draft_token, block),
        accept_words_(key, Purpose::accept, block),
        replacement_words_(key, Purpose::replacement, block),
        bonus_words_(key, Purpose::bonus_token, block),
        residual_words_(key, Purpose::candidate, block),
        live_(count),
        kept_(count),
        drafted_(emitted == nullptr ? 0 : count),
        slots_(count + prefetch_distance),
        shares_(count),
        stop_(key.stop) {
    for (std::uint32_t i = 0; i < count; ++i) live_[i].iteration = i;
  }

  std::vector<std::uint64_t> run(const IterationShape& shape) {
    for (std::int64_t i = 0; i < shape.gamma && !live_.empty(); ++i) {
      stop_.spend(std::ssize(live_));
      meet_contexts();
      if (i == 0) {
        for (const Live& live : live_) kept_[live.iteration].context = live.context;
      } else {
        keep(i);
      }
      draft();
    }
    keep_all_drafts(shape.gamma);
    std::vector<std::uint64_t> accepted_counts(static_cast<std::size_t>(shape.gamma) + 1, 0);
    for (const Kept& kept : kept_) ++accepted_counts[static_cast<std::size_t>(kept.drafts)];
    emit_residuals(shape.gamma);
    emit_kept(shape.gamma, shape.convention);
    return accepted_counts;
  }

 private:
  /// An iteration with P > 0.
  struct Live {
    std::uint32_t iteration;
    std::uint32_t context = 0;  ///< of the current position
    double ratio = 1.0;         ///< P
  };
  /// The longest accepted prefix of an iteration so far; determines the distribution of the next token.
  struct Kept {
    std::int64_t drafts = 0;
    std::uint32_t context = 0;
    double ratio = 1.0;
  };

  [[nodiscard]] std::uint32_t to_context(std::uint64_t word) const {
    return static_cast<std::uint32_t>(uniform_index(word, tables_.contexts()));
  }

  void meet_contexts() {
    const std::span words = context_words_.next(live_.size());
    for (std::size_t j = 0; j < live_.size(); ++j) live_[j].context = to_context(words[j]);
  }

  /// Decides at the position after `drafts` drafts whether they are kept: U < h.
  void keep(std::int64_t drafts) {
    const std::span words = accept_words_.next(live_.size());
    for (std::size_t j = 0; j < live_.size(); ++j) {
      const Live& live = live_[j];
      if (live.ratio < 1.0 && !blocks_.keeps(live.context, live.ratio, unit_uniform(words[j]))) continue;
      kept_[live.iteration] = {.drafts = drafts, .context = live.context, .ratio = live.ratio};
    }
  }

  /// Drafts a token in every live iteration. Iterations with P = 0 are then no longer live.
  void draft() {
    contexts_.clear();
    for (const Live& live : live_) contexts_.push_back(live.context);
    locate(contexts_, draft_words_.next(live_.size()));
    std::size_t left = 0;
    for (std::size_t j = 0; j < live_.size(); ++j) {
      __builtin_prefetch(blocks_.draft().data() + slots_[j + prefetch_distance]);
      const BlockSlot& slot = blocks_.draft()[slots_[j]];
      const bool own = keeps_own(slot.alias, shares_[j]);
      Live live = live_[j];
      if (emitted_ != nullptr) {
        drafted_[live.iteration].push_back({.token = drawn(j, live.context, slot.alias), .context = live.context});
      }
      live.ratio = std::min(1.0, live.ratio * (own ? slot.ratio_own : slot.ratio_alias));
      live_[left] = live;
      left += live.ratio > 0.0 ? 1U : 0U;
    }
    live_.resize(left);
  }

  /// Keeps all drafts if U < P, because h of the last draft is P.
  void keep_all_drafts(std::int64_t gamma) {
    const std::span words = accept_words_.next(live_.size());
    for (std::size_t j = 0; j < live_.size(); ++j) {
      if (unit_uniform(words[j]) < live_[j].ratio) kept_[live_[j].iteration] = {.drafts = gamma};
    }
  }

  /// Emits the last token of iterations that kept fewer than gamma drafts, drawn from max(0, p - c q), c = 1 / P, by
  /// rejection from max(0, p - q), or by inversion if that takes long.
  void emit_residuals(std::int64_t gamma) {
    collect([gamma](const Kept& kept) { return kept.drafts < gamma; });
    for (const std::uint32_t i : ended_) contexts_.push_back(kept_[i].context);
    tokens_.resize(ended_.size());
    pending_.resize(ended_.size());
    std::iota(pending_.begin(), pending_.end(), 0U);
    for (int round = 0; round < max_rounds && !pending_.empty(); ++round) draw_residuals();
    const std::span words = residual_words_.next(pending_.size());
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const std::uint32_t j = pending_[i];
      tokens_[j] = blocks_.residual(contexts_[j]).draw(1.0 / kept_[ended_[j]].ratio, unit_uniform(words[i]));
    }
    emit(Convention::bonus);
  }

  /// One attempt for all pending iterations.
  void draw_residuals() {
    pending_contexts_.clear();
    for (const std::uint32_t j : pending_) pending_contexts_.push_back(contexts_[j]);
    locate(pending_contexts_, replacement_words_.next(pending_.size()));
    const std::span words = residual_words_.next(pending_.size());
    std::size_t left = 0;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      __builtin_prefetch(blocks_.replacement().data() + slots_[i + prefetch_distance]);
      const BlockSlot& slot = blocks_.replacement()[slots_[i]];
      const std::uint32_t j = pending_[i];
      tokens_[j] = drawn(i, contexts_[j], slot.alias);
      const double ratio = keeps_own(slot.alias, shares_[i]) ? slot.ratio_own : slot.ratio_alias;  // q / p
      pending_[left] = j;
      const double scaled = unit_uniform(words[i]) * (1.0 - ratio) * kept_[ended_[j]].ratio;
      left += scaled < kept_[ended_[j]].ratio - ratio ? 0U : 1U;
    }
    pending_.resize(left);
  }

  /// Emits the tokens of iterations that kept all drafts.
  void emit_kept(std::int64_t gamma, Convention convention) {
    collect([gamma](const Kept& kept) { return kept.drafts == gamma; });
    for (const std::uint64_t word : context_words_.next(ended_.size())) contexts_.push_back(to_context(word));
    draw_last(tables_.bonus(), bonus_words_);
    emit(convention);
  }

  /// Selects the iterations whose last token is drawn next.
  template <class Which>
  void collect(const Which& which) {
    ended_.clear();
    contexts_.clear();
    for (std::uint32_t i = 0; i < kept_.size(); ++i) {
      if (which(kept_[i])) ended_.push_back(i);
    }
  }

  /// Draws a token in each of contexts_.
  void draw_last(const std::vector<AliasSlot>& table, WordSource& words) {
    locate(contexts_, words.next(contexts_.size()));
    tokens_.resize(contexts_.size());
    for (std::size_t j = 0; j < contexts_.size(); ++j) {
      __builtin_prefetch(table.data() + slots_[j + prefetch_distance]);
      tokens_[j] = drawn(j, contexts_[j], table[slots_[j]]);
    }
  }

  /// Table locations of draws in these contexts.
  void locate(std::span<const std::uint32_t> contexts, std::span<const std::uint64_t> words) {
    for (std::size_t j = 0; j < words.size(); ++j) {
      const SlotDraw draw = slot_draw(words[j], tables_.vocabulary());
      slots_[j] = contexts[j] * tables_.vocabulary() + draw.slot;
      shares_[j] = draw.share;
    }
    std::fill_n(slots_.begin() + std::ssize(words), prefetch_distance, 0);
  }
  /// The token of draw j.
  [[nodiscard]] Token drawn(std::size_t j, std::uint32_t context, AliasSlot slot) const {
    const std::size_t own = slots_[j] - context * tables_.vocabulary();
    return static_cast<Token>(keeps_own(slot, shares_[j]) ? own : alias_of(slot));
  }

  /// Emits the kept drafts of the iterations in ended_ and, unless `convention` is no_bonus, the token after them.
  void emit(Convention convention) {
    if (emitted_ == nullptr) return;
    for (std::size_t j = 0; j < ended_.size(); ++j) {
      std::vector<EmittedToken>& tokens = (*emitted_)[ended_[j]];
      const auto drafts = static_cast<std::size_t>(kept_[ended_[j]].drafts);
      const std::span kept = std::span(drafted_[ended_[j]]).first(drafts);
      tokens.insert(tokens.end(), kept.begin(), kept.end());
      if (convention == Convention::bonus) tokens.push_back({.token = tokens_[j], .context = contexts_[j]});
    }
  }

  const PooledTables& tables_;
  const PooledBlocks& blocks_;
  EmittedTokens* emitted_;
  WordSource context_words_;
  WordSource draft_words_;
  WordSource accept_words_;
  WordSource replacement_words_;
  WordSource bonus_words_;
  WordSource residual_words_;
  std::vector<Live> live_;
  std::vector<Kept> kept_;
  std::vector<std::vector<EmittedToken>> drafted_;  ///< [iteration]; empty if tokens are not reported
  std::vector<std::uint32_t> ended_;                ///< iterations whose last token is drawn
  std::vector<std::uint32_t> contexts_;
  std::vector<std::uint32_t> pending_;  ///< indices into ended_
  std::vector<std::uint32_t> pending_contexts_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> slots_;
  std::vector<std::uint64_t> shares_;
  StopMeter stop_;
};

}  // namespace

std::vector<std::uint64_t> run_block_iterations(const PooledTables& tables, const RunKey& key, std::uint64_t block,
                                                const IterationShape& shape, std::uint64_t iterations,
                                                EmittedTokens* emitted) {
  return BlockIterations(tables, key, block, iterations, emitted).run(shape);
}

}  // namespace foredraft::sim
