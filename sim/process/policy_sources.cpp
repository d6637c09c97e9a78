// SPDX-License-Identifier: Apache-2.0
#include "sim/process/policy_sources.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace foredraft::sim {
namespace {

/// An iteration that drafts while it pays.
struct PricedDraft {
  std::int64_t drafts;
  double tokens;
};

/// Draft by draft. With a bonus token, draft i yields token i + 1 if it survives. Without one, the first token is
/// always emitted, and one more draft yields the token after the drafts so far.
template <typename Conditional>
PricedDraft draft_at_price(const Conditional& conditional, double price, std::int64_t gamma, Convention convention) {
  PricedDraft draft{.drafts = min_gamma(convention), .tokens = 1.0};
  double survival = 1.0;
  while (draft.drafts < gamma) {
    survival *= conditional(draft.drafts - min_gamma(convention));
    if (survival <= price) break;
    draft.tokens += survival;
    ++draft.drafts;
  }
  return draft;
}

PricedDraft draft_at_price(double alpha, double price, std::int64_t gamma, Convention convention) {
  return draft_at_price([alpha](std::int64_t) { return alpha; }, price, gamma, convention);
}

PricedDraft draft_at_price(const AcceptanceProcess& process, double price, std::int64_t gamma, Convention convention) {
  if (const auto* iid = std::get_if<Iid>(&process)) return draft_at_price(iid->alpha, price, gamma, convention);
  const auto* positional = std::get_if<Positional>(&process);
  if (positional == nullptr) throw std::logic_error("this process has no known acceptances");
  return draft_at_price(
      [&](std::int64_t position) { return positional->conditional[static_cast<std::size_t>(position)]; }, price, gamma,
      convention);
}

/// The middles of equal slices of the distribution of alpha.
std::vector<double> slices_of(const BetaMixture& mixture) {
  constexpr int slices = 2048;
  std::vector<double> alpha;
  for (int i = 0; i < slices; ++i) {
    alpha.push_back(boost::math::ibeta_inv(mixture.a, mixture.b, (static_cast<double>(i) + 0.5) / slices));
  }
  return alpha;
}

/// c times the best long-run speedup of the drafts that `draft_all(price, add)` adds, iterated from an attainable
/// speedup.
template <class DraftAll>
double settled_price(double c, double speed, const DraftAll& draft_all) {
  for (;;) {
    double tokens = 0.0;
    double steps = 0.0;
    draft_all(c * speed, [&](const PricedDraft& draft) {
      tokens += draft.tokens;
      steps += 1.0 + c * static_cast<double>(draft.drafts);
    });
    const double better = tokens / steps;
    if (!(better > speed)) return c * speed;
    speed = better;
  }
}

/// Acceptance probabilities of the tokens of drafts that end with gamma, or once all are accepted with a probability of
/// at most `price`. The same in every run.
std::vector<std::vector<double>> token_sequences(double alpha, double concentration, std::int64_t gamma, double price) {
  constexpr std::size_t enough_sequences = std::size_t{1} << 15U;
  constexpr std::uint64_t max_tokens_drawn = std::uint64_t{1} << 22U;
  const BetaDistribution distribution(alpha * concentration, (1.0 - alpha) * concentration);
  RandomStream random(0, {.purpose = Purpose::latent_alpha, .point = 0, .block = 0});
  std::vector<std::vector<double>> sequences;
  for (std::uint64_t drawn = 0; sequences.size() < enough_sequences && drawn < max_tokens_drawn;) {
    std::vector<double>& tokens = sequences.emplace_back();
    double survival = 1.0;
    while (static_cast<std::int64_t>(tokens.size()) < gamma && survival > price) {
      tokens.push_back(distribution.draw(random, drawn++).value);
      survival *= tokens.back();
    }
  }
  return sequences;
}

}  // namespace

double stopping_price(const AcceptanceProcess& process, std::int64_t gamma, double c, Convention convention) {
  std::vector<double> known;
  if (const auto* mixture = std::get_if<BetaMixture>(&process)) known = slices_of(*mixture);
  return settled_price(c, 0.0, [&](double price, const auto& add) {
    for (const double alpha : known) add(draft_at_price(alpha, price, gamma, convention));
    if (known.empty()) add(draft_at_price(process, price, gamma, convention));
  });
}

double stopping_price_of_tokens(double alpha, double concentration, std::int64_t gamma, double c,
                                Convention convention) {
  if (alpha == 0.0 || alpha == 1.0) return stopping_price(Iid{alpha}, gamma, c, convention);
  if (c == 0.0) return 0.0;
  const double shortest = 1.0 / (1.0 + c * static_cast<double>(min_gamma(convention)));  // speed of the shortest drafts
  const std::vector<std::vector<double>> sequences = token_sequences(alpha, concentration, gamma, c * shortest);
  return settled_price(c, shortest, [&](double price, const auto& add) {
    for (const std::vector<double>& tokens : sequences) {
      const auto known = static_cast<std::int64_t>(tokens.size()) + min_gamma(convention);
      add(draft_at_price([&](std::int64_t position) { return tokens[static_cast<std::size_t>(position)]; }, price,
                         std::min(gamma, known), convention));
    }
  });
}

double row_entropy(double confidence, std::int64_t alternatives) {
  const auto others = static_cast<double>(alternatives);
  const double rest = 1.0 - confidence;
  if (rest <= 0.0) return 0.0;
  if (confidence * (others + 1.0) <= 1.0) return std::log(others + 1.0);
  return -confidence * std::log(confidence) - rest * std::log(rest / others);
}

void DynamicStop::learn(const VaryingIteration& iteration) {
  const auto above = [](double confidence, const Tested& tested) { return confidence > tested.confidence; };
  for (std::int64_t i = 0; i < iteration.outcome.tested; ++i) {
    const double confidence = drafted_[static_cast<std::size_t>(i)];
    seen_.insert(std::upper_bound(seen_.begin(), seen_.end(), confidence, above),
                 {confidence, i < iteration.outcome.accepted});
  }
  accepted_ += iteration.outcome.accepted;
  const auto size = static_cast<std::int64_t>(seen_.size());
  const std::int64_t rejected = size - accepted_;
  constexpr std::int64_t few = 5;
  if (size <= few || accepted_ == 0 || rejected == 0) return;
  // In integers: costs multiplied by the numbers of accepted and rejected drafts.
  constexpr std::int64_t cost_of_missing = 3;
  std::int64_t best = cost_of_missing * accepted_ * rejected;  // for a threshold above all confidences
  std::int64_t accepted_above = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const Tested& tested = seen_[static_cast<std::size_t>(i)];
    accepted_above += tested.accepted ? 1 : 0;
    if (i + 1 < size && seen_[static_cast<std::size_t>(i) + 1].confidence == tested.confidence) continue;
    const std::int64_t rejected_above = i + 1 - accepted_above;
    const std::int64_t cost = rejected_above * accepted_ + cost_of_missing * (accepted_ - accepted_above) * rejected;
    if (cost >= best) continue;
    best = cost;
    threshold_ = tested.confidence;
  }
}

std::int64_t drafts_at_price(double alpha, double price, std::int64_t gamma, Convention convention) {
  return draft_at_price(alpha, price, gamma, convention).drafts;
}

std::int64_t drafts_at_price(const AcceptanceProcess& process, double price, std::int64_t gamma,
                             Convention convention) {
  return draft_at_price(process, price, gamma, convention).drafts;
}

SurvivalRow::SurvivalRow(Thresholds survival) : survival_(std::move(survival)) {
  std::uint32_t above = 0;
  for (std::size_t byte = from_byte_.size(); byte-- > 0;) {
    while (above < survival_.size() && survival_.high[above] >= byte * 256) ++above;
    from_byte_[byte] = above;
  }
  constexpr std::uint32_t no_draw = 0xffffffff;
  survival_.push_back({.high = no_draw, .low = 0});
}

std::shared_ptr<const SurvivalByState> survival_by_state(const AcceptanceProcess& process, std::int64_t positions) {
  SurvivalByState rows{SurvivalRow(survival_thresholds(process, positions, false))};
  if (std::holds_alternative<Markov>(process)) rows[1] = SurvivalRow(survival_thresholds(process, positions, true));
  return std::make_shared<const SurvivalByState>(std::move(rows));
}

std::shared_ptr<const ThresholdsByState> acceptance_by_state(const AcceptanceProcess& process, std::int64_t positions) {
  ThresholdsByState rows{acceptance_thresholds(process, positions, false)};
  if (std::holds_alternative<Markov>(process)) rows[1] = acceptance_thresholds(process, positions, true);
  return std::make_shared<const ThresholdsByState>(std::move(rows));
}

}  // namespace foredraft::sim
