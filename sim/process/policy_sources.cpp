// SPDX-License-Identifier: Apache-2.0
#include "sim/process/policy_sources.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <stdexcept>
#include <vector>

namespace foredraft::sim {
namespace {

/// An iteration that drafts while it pays.
struct PricedDraft {
  std::int64_t drafts;
  double tokens;
};

/// Draft by draft: with a bonus token draft i yields token i + 1 if it survives; without one the first token is emitted
/// in any case, and one more draft yields the token after the drafts so far.
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

}  // namespace

double stopping_price(const AcceptanceProcess& process, std::int64_t gamma, double c, Convention convention) {
  std::vector<double> known;
  if (const auto* mixture = std::get_if<BetaMixture>(&process)) known = slices_of(*mixture);
  double speed = 0.0;
  for (;;) {
    double tokens = 0.0;
    double steps = 0.0;
    const auto add = [&](const PricedDraft& draft) {
      tokens += draft.tokens;
      steps += 1.0 + c * static_cast<double>(draft.drafts);
    };
    for (const double alpha : known) add(draft_at_price(alpha, c * speed, gamma, convention));
    if (known.empty()) add(draft_at_price(process, c * speed, gamma, convention));
    const double better = tokens / steps;
    if (!(better > speed)) return c * speed;
    speed = better;
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
