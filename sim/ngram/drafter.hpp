// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/ngram/model.hpp"

/// Language models that draft the next tokens of a text, and the law of each draft.
namespace foredraft::ngram {

/// What a draft sees of the drafts in front of it.
enum class Sight {
  all,       ///< an n-gram model goes on behind them as behind the text [Leviathan2023, Sec. 4.3]
  none,      ///< heads: the text up to its last emitted token, so drafts are independent of each other given the text
             ///< [Stern2018; Cai2024]
  previous,  ///< stages: that text and, nearest, the draft right before [Wertheimer2024]
};

struct Drafter {
  std::vector<std::shared_ptr<const Model>> models;  ///< [i]: of draft i; Sight::all has one for all
  Sight sight;
};

[[nodiscard]] Drafter ngram_drafter(std::shared_ptr<const Model> model);

/// `models[i]` trained with head_window(order, i + 1).
[[nodiscard]] Drafter heads(std::vector<std::shared_ptr<const Model>> models);

/// `models[i]` trained with stage_window(order, i + 1).
[[nodiscard]] Drafter stages(std::vector<std::shared_ptr<const Model>> models);

/// Throws DomainError on a null model, one of another vocabulary, or too few of them for `gamma` drafts.
void check_drafter(const Drafter& drafter, std::int64_t vocabulary, std::int64_t gamma);

/// The law that a draft is drawn from.
class DraftDistribution {
 public:
  /// Of draft `index` (from 0); `text` ends with the `index` drafts in front of it. The drafter must outlive the law.
  DraftDistribution(const Drafter& drafter, std::span<const Token> text, std::size_t index);

  [[nodiscard]] double probability(Token token) const { return model_->probability(seen(), token); }
  [[nodiscard]] Token sample(RandomStream& random) const { return model_->sample(seen(), random); }
  [[nodiscard]] Token argmax() const { return model_->argmax(seen()); }

 private:
  [[nodiscard]] std::span<const Token> seen() const { return std::span(seen_).first(count_); }

  const Model* model_;
  std::array<Token, max_order - 1> seen_{};  ///< the nearest last
  std::size_t count_ = 0;
};

}  // namespace foredraft::ngram
