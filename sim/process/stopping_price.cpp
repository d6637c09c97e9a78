// SPDX-License-Identifier: Apache-2.0
#include "sim/process/stopping_price.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cstddef>
#include <stdexcept>
#include <variant>
#include <vector>

#include "core/random_stream.hpp"
#include "sim/process/draws.hpp"

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

/// c times the best long-run speedup of the drafts that `draft_all(price, add)` adds, iterated from `speed`, which must
/// not exceed it.
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

/// Acceptance probabilities of the tokens of drafts of gamma tokens. A draft ends early once all of its tokens are
/// accepted with a probability of at most `price`. The same in every run.
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

std::int64_t drafts_at_price(double alpha, double price, std::int64_t gamma, Convention convention) {
  return draft_at_price(alpha, price, gamma, convention).drafts;
}

std::int64_t drafts_at_price(const AcceptanceProcess& process, double price, std::int64_t gamma,
                             Convention convention) {
  return draft_at_price(process, price, gamma, convention).drafts;
}

}  // namespace foredraft::sim
