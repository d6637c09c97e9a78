// SPDX-License-Identifier: Apache-2.0
#include "sim/process/policy_sources.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

namespace foredraft::sim {
namespace {

constexpr std::size_t slices = 2048;

/// Time and tokens of the iterations that the drafter can have, summed.
struct Meeting {
  double tokens;
  double steps;
};

/// Draft by draft: with a bonus token draft i yields token i + 1 if it survives; without one the first token is emitted
/// in any case, and one more draft yields the token after the drafts so far.
template <typename Conditional>
std::int64_t draft_at_price(const Conditional& conditional, double price, std::int64_t gamma, Convention convention,
                            Meeting* meeting, double c) {
  std::int64_t drafts = min_gamma(convention);
  double survival = 1.0;
  double tokens = 1.0;
  while (drafts < gamma) {
    survival *= conditional(drafts - min_gamma(convention));
    if (survival <= price) break;
    tokens += survival;
    ++drafts;
  }
  if (meeting != nullptr) {
    meeting->tokens += tokens;
    meeting->steps += 1.0 + c * static_cast<double>(drafts);
  }
  return drafts;
}

/// Acceptance of the next draft: [slice] for a mixture.
struct Slices {
  std::vector<double> alpha;
};

Slices slices_of(const BetaMixture& mixture) {
  Slices result;
  for (std::size_t i = 0; i < slices; ++i) {
    const double middle = (static_cast<double>(i) + 0.5) / static_cast<double>(slices);
    result.alpha.push_back(boost::math::ibeta_inv(mixture.a, mixture.b, middle));
  }
  return result;
}

double conditional_of(const AcceptanceProcess& process, std::int64_t position) {
  if (const auto* iid = std::get_if<Iid>(&process)) return iid->alpha;
  if (const auto* positional = std::get_if<Positional>(&process)) {
    return positional->conditional[static_cast<std::size_t>(position)];
  }
  throw std::logic_error("this process has no known acceptances");
}

}  // namespace

double stopping_price(const AcceptanceProcess& process, std::int64_t gamma, double c, Convention convention) {
  Slices known;
  if (const auto* mixture = std::get_if<BetaMixture>(&process)) known = slices_of(*mixture);
  double speed = 0.0;
  for (;;) {
    Meeting meeting{0.0, 0.0};
    for (const double alpha : known.alpha) {
      draft_at_price([alpha](std::int64_t) { return alpha; }, c * speed, gamma, convention, &meeting, c);
    }
    if (known.alpha.empty()) {
      draft_at_price([&](std::int64_t position) { return conditional_of(process, position); }, c * speed, gamma,
                     convention, &meeting, c);
    }
    const double better = meeting.tokens / meeting.steps;
    if (!(better > speed)) return c * speed;
    speed = better;
  }
}

std::int64_t drafts_at_price(double alpha, double price, std::int64_t gamma, Convention convention) {
  return draft_at_price([alpha](std::int64_t) { return alpha; }, price, gamma, convention, nullptr, 0.0);
}

std::int64_t drafts_at_price(const AcceptanceProcess& process, double price, std::int64_t gamma,
                             Convention convention) {
  return draft_at_price([&](std::int64_t position) { return conditional_of(process, position); }, price, gamma,
                        convention, nullptr, 0.0);
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

}  // namespace foredraft::sim
