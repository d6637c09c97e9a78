// SPDX-License-Identifier: Apache-2.0
#include "sim/token/pooled/candidate_wave.hpp"

#include <algorithm>
#include <numeric>

#include "core/random_stream.hpp"
#include "sim/token/distribution/emitted_distribution.hpp"
#include "sim/token/rules/verification_rule.hpp"

namespace foredraft::sim {
namespace {

/// If less of q than this remains, or after so many draws from the first residual, explicit distributions are cheaper.
constexpr double min_rest = 0x1.0p-6;
constexpr int max_residual_draws = 1000;

AliasSlot alias_slot(const DraftSlot& slot) { return slot.alias; }
AliasSlot alias_slot(AliasSlot slot) { return slot; }

}  // namespace

CandidateWave::CandidateWave(const PooledTables& tables, const RunKey& key, std::uint64_t block)
    : tables_(tables),
      candidates_(*tables.candidates()),
      count_(static_cast<std::size_t>(candidates_.scheme().count)),
      distinct_(candidates_.scheme().draws == CandidateDraws::without_replacement),
      words_(key, Purpose::candidate, block),
      late_(key.seed, {.purpose = Purpose::late_candidate, .point = key.point, .block = block}) {}

std::span<const std::uint8_t> CandidateWave::try_all(std::span<const std::uint32_t> contexts, std::span<Token> tokens) {
  begin(contexts, tokens);
  for (std::size_t tried = 1; tried < count_ && !pending_.empty(); ++tried) try_candidate(tried, tokens);
  draw_from_last_residual(tokens);
  return accepted_;
}

void CandidateWave::draw_residuals(std::span<const std::uint32_t> contexts, std::span<const double> c,
                                   std::span<Token> tokens) {
  pending_.resize(contexts.size());
  for (std::uint32_t j = 0; j < contexts.size(); ++j) {
    pending_[j] = {.index = j, .context = contexts[j], .c = c[j], .mass = 0.0, .rest = 1.0};
  }
  draw_from_last_residual(tokens);
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
    const bool accept = to_uniform(uniforms[j]) * q * position.mass < (p - position.c * q) * position.rest;
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
      kept += to_uniform(uniforms[j]) * (p - q) < p - position.c * q ? 0U : 1U;
    }
    pending_.resize(kept);
  }
  for (const Position& position : pending_) emit_by_weights(position, tokens);
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
  const FurtherOutcome outcome =
      try_further_candidates({.target = target, .draft = draft}, candidates_.scheme(), rejected, late_);
  accepted_[position.index] = outcome.accepted ? 1 : 0;
  tokens[position.index] = outcome.token;
}

void CandidateWave::emit_by_weights(const Position& position, std::span<Token> tokens) {
  std::vector<double> weights;
  for (std::size_t x = 0; x < tables_.vocabulary(); ++x) {
    const auto [p, q] = candidates_.pairs()[place(position, static_cast<Token>(x))];
    weights.push_back(std::max(0.0, p - position.c * q));
  }
  if (normalise(weights)) tokens[position.index] = draw_token(weights, late_);
}

}  // namespace foredraft::sim
