// SPDX-License-Identifier: Apache-2.0
#include "sim/token/distribution/emitted_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "core/check.hpp"
#include "sim/token/rows/row_operations.hpp"

namespace foredraft::sim {

ResidualMass::ResidualMass(const PositionDistributions& distributions, Draws draws) {
  FOREDRAFT_EXPECT(distributions.target.size() == distributions.draft.size());
  bends_.reserve(distributions.draft.size());
  std::vector<Token> drafted;
  for (std::size_t x = 0; x < distributions.draft.size(); ++x) {
    const double ratio = distributions.target[x] / distributions.draft[x];  // 0/0 is NaN and never counts
    if (std::isinf(ratio)) {
      never_drafted_ += distributions.target[x];
      if (draws == Draws::yes) {
        tokens_.push_back(static_cast<Token>(x));
        undrafted_.push_back(never_drafted_);
      }
    }
    if (!std::isfinite(ratio)) continue;
    bends_.push_back({.ratio = ratio, .mass = 0.0, .slope = distributions.draft[x]});
    if (draws == Draws::yes) drafted.push_back(static_cast<Token>(x));
  }
  if (draws == Draws::yes) {
    std::ranges::stable_sort(drafted, std::greater<>(), [&](Token token) {
      const auto x = static_cast<std::size_t>(token);
      return distributions.target[x] / distributions.draft[x];
    });
    tokens_.insert(tokens_.end(), drafted.begin(), drafted.end());
    std::ranges::stable_sort(bends_, std::greater<>(), &Bend::ratio);
  } else {
    std::sort(bends_.begin(), bends_.end(), [](const Bend& a, const Bend& b) { return a.ratio > b.ratio; });
  }
  const Bend* before = nullptr;
  for (Bend& bend : bends_) {
    bend.mass = before == nullptr ? never_drafted_ : before->mass + (before->ratio - bend.ratio) * before->slope;
    if (before != nullptr) bend.slope += before->slope;
    before = &bend;
  }
  constexpr std::size_t bends_a_slice = 4;
  first_.assign(bends_.size() / bends_a_slice + 4, 0);
  for (const Bend& bend : bends_) ++first_[slice(bend.ratio) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

auto ResidualMass::end_of(double c) const -> std::vector<Bend>::const_iterator {
  const std::size_t s = slice(c);
  return std::partition_point(bends_.begin() + first_[s], bends_.begin() + first_[s + 1],
                              [c](const Bend& bend) { return bend.ratio > c; });
}

double ResidualMass::operator()(double c) const {
  const auto end = end_of(c);
  return end == bends_.begin() ? never_drafted_ : sum_to(*(end - 1), c);
}

Token ResidualMass::draw(double c, double u) const {
  const auto end = end_of(c);
  const double sum = u * (end == bends_.begin() ? never_drafted_ : sum_to(*(end - 1), c));
  if (sum < never_drafted_) {
    return tokens_[static_cast<std::size_t>(std::ranges::upper_bound(undrafted_, sum) - undrafted_.begin())];
  }
  const auto found =
      std::partition_point(bends_.begin(), end, [&](const Bend& bend) { return sum_to(bend, c) <= sum; });
  const auto last = std::max(end - bends_.begin(), std::ptrdiff_t{1}) - 1;  // round-off may leave no bend
  return tokens_[undrafted_.size() + static_cast<std::size_t>(std::min(found - bends_.begin(), last))];
}

RecursiveRejection::RecursiveRejection(const PositionDistributions& distributions, CandidateDraws draws)
    : draws_(draws),
      residual_(distributions.target.begin(), distributions.target.end()),
      draft_(distributions.draft.begin(), distributions.draft.end()) {
  FOREDRAFT_EXPECT(residual_.size() == draft_.size());
}

double RecursiveRejection::acceptance(Token candidate) const {
  const double r = residual_[static_cast<std::size_t>(candidate)];
  const double d = draft_[static_cast<std::size_t>(candidate)];
  if (!(d > 0.0)) return 0.0;
  return r >= d ? 1.0 : r / d;
}

void RecursiveRejection::reject(Token candidate) {
  std::vector<double> rest(residual_.size());
  for (std::size_t x = 0; x < rest.size(); ++x) rest[x] = std::max(0.0, residual_[x] - draft_[x]);
  if (normalize(rest)) residual_ = std::move(rest);
  if (draws_ == CandidateDraws::with_replacement) return;

  rejected_.push_back(candidate);
  draft_[static_cast<std::size_t>(candidate)] = 0.0;
  if (normalize(draft_)) return;
  std::fill(draft_.begin(), draft_.end(), 1.0);
  for (const Token token : rejected_) draft_[static_cast<std::size_t>(token)] = 0.0;
  normalize(draft_);
}

FurtherOutcome try_further_candidates(const PositionDistributions& distributions, const CandidateScheme& scheme,
                                      std::span<const Token> rejected, RandomStream& random) {
  RecursiveRejection state(distributions, scheme.draws);
  for (const Token token : rejected) state.reject(token);
  for (auto tried = std::ssize(rejected); tried < scheme.count; ++tried) {
    const Token token = draw_token(state.draft(), random);
    if (random.uniform() < state.acceptance(token)) return {.accepted = true, .token = token};
    state.reject(token);
  }
  return {.accepted = false, .token = draw_token(state.residual(), random)};
}

namespace {

constexpr double max_terms = 1048576.0;

double with_replacement(const ResidualMass& mass, std::int64_t count) {
  double c = 0.0;
  double m = 1.0;
  for (std::int64_t i = 0; i < count && m > 0.0; ++i) {
    c += m;
    m = mass(c);
  }
  return 1.0 - m;
}

/// The sum over all sequences of rejected tokens, without replacement. The residual before a candidate is max(0, p - c
/// q) / m, and the candidate is drawn from q / rest over the tokens not yet rejected.
class RejectedSequences {
 public:
  explicit RejectedSequences(const PositionDistributions& distributions)
      : distributions_(distributions), mass_(distributions), rejected_(distributions.target.size(), false) {}

  /// Probability that the next `count` candidates are all rejected.
  double all_rejected(double c, double m, double rest, std::int64_t count) {
    if (count == 0) return 1.0;
    if (!(m > 0.0)) return 0.0;
    if (!(rest > 0.0)) return 1.0 - candidate_acceptance_of_rest(c, count);
    const double next = c + m / rest;
    const double next_mass = mass_(next);
    if (count == 1) return next_mass / m;
    double sum = 0.0;
    for (std::size_t x = 0; x < rejected_.size(); ++x) {
      const double d = distributions_.draft[x] / rest;
      if (rejected_[x] || !(d > 0.0)) continue;
      const double rejected_here =
          d - std::min(d, std::max(0.0, distributions_.target[x] - c * distributions_.draft[x]) / m);
      if (!(rejected_here > 0.0)) continue;
      rejected_[x] = true;
      sum += rejected_here * all_rejected(next, next_mass, rest_without(x, rest), count - 1);
      rejected_[x] = false;
    }
    return sum;
  }

 private:
  /// Computed by subtraction, or by summation if the difference would cancel.
  [[nodiscard]] double rest_without(std::size_t x, double rest) const {
    if (distributions_.draft[x] <= 0.5 * rest) return rest - distributions_.draft[x];
    double sum = 0.0;
    for (std::size_t y = 0; y < rejected_.size(); ++y) sum += rejected_[y] ? 0.0 : distributions_.draft[y];
    return sum;
  }

  /// q is exhausted: further candidates are uniform over the tokens not yet rejected.
  [[nodiscard]] double candidate_acceptance_of_rest(double c, std::int64_t count) const {
    std::vector<double> residual;
    for (std::size_t x = 0; x < rejected_.size(); ++x) {
      if (!rejected_[x]) residual.push_back(std::max(0.0, distributions_.target[x] - c * distributions_.draft[x]));
    }
    double sum = 0.0;
    for (const double entry : residual) sum += entry;
    for (double& entry : residual) entry /= sum;
    const std::vector<double> uniform(residual.size(), 1.0 / static_cast<double>(residual.size()));
    return candidate_acceptance({.target = residual, .draft = uniform},
                                {.count = count, .draws = CandidateDraws::without_replacement});
  }

  const PositionDistributions& distributions_;
  ResidualMass mass_;
  std::vector<bool> rejected_;
};

}  // namespace

double candidate_acceptance(const PositionDistributions& distributions, const CandidateScheme& scheme) {
  if (scheme.draws == CandidateDraws::with_replacement || scheme.count == 1) {
    return with_replacement(ResidualMass(distributions), scheme.count);
  }
  const auto vocabulary = static_cast<std::int64_t>(distributions.target.size());
  if (scheme.count >= vocabulary) return 1.0;  // one of V different tokens is accepted
  if (std::pow(static_cast<double>(vocabulary), static_cast<double>(scheme.count - 1)) > max_terms) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return 1.0 - RejectedSequences(distributions).all_rejected(0.0, 1.0, 1.0, scheme.count);
}

double optimal_acceptance(const PositionDistributions& distributions, std::int64_t candidates) {
  struct Drafted {
    double ratio;
    double target;
    double draft;
  };
  std::vector<Drafted> tokens;
  for (std::size_t x = 0; x < distributions.draft.size(); ++x) {
    const double p = distributions.target[x];
    const double q = distributions.draft[x];
    if (q > 0.0) tokens.push_back({p / q, p, q});  // q = 0 only adds p to a set
  }
  std::ranges::sort(tokens, {}, &Drafted::ratio);
  double target = 0.0;
  double draft = 0.0;
  double smallest = 1.0;
  for (const Drafted& token : tokens) {
    target += token.target;
    draft += token.draft;
    smallest = std::min(smallest, target + 1.0 - std::pow(draft, static_cast<double>(candidates)));
  }
  return std::max(0.0, smallest);
}

namespace {

/// sum q a and sum q (1 - a), each summed from nonnegative terms to avoid cancellation.
struct TestedMass {
  double accepted;
  double rejected;
};

/// q(x) a(x) for every token, written to `distribution`, and the sums.
TestedMass tested_mass(const VerificationRule& rule, const PositionDistributions& distributions,
                       std::vector<double>& distribution) {
  FOREDRAFT_EXPECT(distributions.target.size() == distributions.draft.size());
  const double statistic = rule.uses_row_statistic() ? rule.row_statistic(distributions) : 0.0;
  distribution.assign(distributions.draft.size(), 0.0);
  TestedMass mass{.accepted = 0.0, .rejected = 0.0};
  for (std::size_t x = 0; x < distribution.size(); ++x) {
    if (!(distributions.draft[x] > 0.0)) continue;  // never drafted: a(x) is not defined there
    const double acceptance = rule.acceptance(
        {.token = static_cast<Token>(x), .target = distributions.target[x], .draft = distributions.draft[x]},
        statistic);
    distribution[x] = distributions.draft[x] * acceptance;
    mass.accepted += distribution[x];
    mass.rejected += distributions.draft[x] * (1.0 - acceptance);
  }
  return mass;
}

}  // namespace

namespace {

/// (1 - sum q a)^k for candidates that are tested alike, 1 - sum q a for others.
double all_rejected(const CandidateScheme& scheme, const TestedMass& mass) {
  return scheme.tested_alike ? std::pow(mass.rejected, static_cast<double>(scheme.count)) : mass.rejected;
}

/// Factor of q(x) a(x) that gives the probability that a candidate is accepted and is x.
double accepted_share(const CandidateScheme& scheme, const TestedMass& mass) {
  if (!scheme.tested_alike || scheme.count == 1) return 1.0;
  return mass.accepted > 0.0 ? (1.0 - all_rejected(scheme, mass)) / mass.accepted : 0.0;
}

}  // namespace

double acceptance_probability(const VerificationRule& rule, const PositionDistributions& distributions) {
  const CandidateScheme scheme = rule.candidates(1);
  if (scheme.count > 1 && !scheme.tested_alike) return candidate_acceptance(distributions, scheme);
  std::vector<double> distribution;
  const TestedMass mass = tested_mass(rule, distributions, distribution);
  return scheme.count > 1 ? 1.0 - all_rejected(scheme, mass) : mass.accepted;
}

namespace {

/// The two parts of emitted_distribution(): P(the token is accepted and is x), P(it is a replacement and is x).
struct EmittedParts {
  std::vector<double> accepted;
  std::vector<double> replaced;
};

EmittedParts emitted_parts(const VerificationRule& rule, const PositionDistributions& distributions) {
  EmittedParts parts;
  const TestedMass mass = tested_mass(rule, distributions, parts.accepted);
  const double share = accepted_share(rule.candidates(1), mass);
  const double rejected = all_rejected(rule.candidates(1), mass);
  parts.replaced.resize(parts.accepted.size());
  rule.replacement(distributions, parts.replaced);
  for (double& accepted : parts.accepted) accepted *= share;
  for (double& replaced : parts.replaced) replaced *= rejected;
  return parts;
}

}  // namespace

std::vector<double> emitted_distribution(const VerificationRule& rule, const PositionDistributions& distributions) {
  EmittedParts parts = emitted_parts(rule, distributions);
  for (std::size_t x = 0; x < parts.accepted.size(); ++x) parts.accepted[x] += parts.replaced[x];
  return parts.accepted;
}

namespace {

/// Distributions of the token and of the bonus token in one context.
struct JointPosition {
  EmittedParts parts;
  std::vector<double> bonus;
  std::span<const double> target;
};

/// Compares the joint distribution of successive tokens with the target's by enumeration.
class JointTokens {
 public:
  JointTokens(std::vector<JointPosition> positions, std::int64_t gamma, Convention convention)
      : positions_(std::move(positions)), gamma_(gamma), convention_(convention) {}

  /// sum |e - p| / 2 over all outcomes.
  [[nodiscard]] double total_variation() {
    std::vector<double> drafts(positions_.size(), 0.0);  // [i]: P(these tokens, and the last i are accepted drafts)
    drafts[0] = 1.0;
    distance_ = 0.0;
    add(0, drafts, 1.0);
    return 0.5 * distance_;
  }

 private:
  /// Adds all outcomes with a given prefix, which has probability `target` under the target.
  void add(std::size_t position, std::span<const double> drafts, double target) {
    if (position == positions_.size()) {
      double emitted = 0.0;
      for (const double part : drafts) emitted += part;
      distance_ += std::abs(emitted - target);
      return;
    }
    const JointPosition& at = positions_[position];
    std::vector<double> next(drafts.size() + 1);
    for (std::size_t x = 0; x < at.target.size(); ++x) {
      std::fill(next.begin(), next.end(), 0.0);
      for (std::size_t i = 0; i < drafts.size(); ++i) {
        const auto drafted = static_cast<std::int64_t>(i);
        if (drafted == gamma_ && convention_ == Convention::bonus) {
          next[0] += drafts[i] * at.bonus[x];
          continue;
        }
        next[0] += drafts[i] * at.parts.replaced[x];
        next[drafted == gamma_ ? 1 : i + 1] += drafts[i] * at.parts.accepted[x];
      }
      add(position + 1, next, target * at.target[x]);
    }
  }

  std::vector<JointPosition> positions_;
  std::int64_t gamma_;
  Convention convention_;
  double distance_ = 0.0;
};

}  // namespace

double joint_total_variation(std::span<const ContextRule> contexts, std::int64_t gamma, Convention convention) {
  FOREDRAFT_EXPECT(!contexts.empty());
  std::vector<JointPosition> positions;
  for (const auto& [rule, distributions] : contexts) {
    FOREDRAFT_EXPECT(!rule->verifies_blocks());
    JointPosition& at = positions.emplace_back(JointPosition{.parts = emitted_parts(*rule, distributions),
                                                             .bonus = std::vector<double>(distributions.target.size()),
                                                             .target = distributions.target});
    rule->bonus(distributions.target, at.bonus);
  }
  return JointTokens(std::move(positions), gamma, convention).total_variation();
}

namespace {

/// sum e ln(e / p) - e + p: equal because both sum to 1, and accurate because all terms are nonnegative.
double kl_divergence(std::span<const double> e, std::span<const double> p) {
  double sum = 0.0;
  for (std::size_t x = 0; x < e.size(); ++x) {
    if (e[x] > 0.0 && !(p[x] > 0.0)) return std::numeric_limits<double>::infinity();
    const double difference = e[x] - p[x];
    if (difference == 0.0) continue;
    const double ratio = difference / p[x];
    const double log_ratio = std::isfinite(ratio) ? std::log1p(ratio) : std::log(e[x]) - std::log(p[x]);
    sum += e[x] > 0.0 ? e[x] * log_ratio - difference : p[x];
  }
  return std::max(0.0, sum);
}

Estimate mean_of(std::span<const PositionLossiness> positions, double PositionLossiness::*member) {
  const auto n = static_cast<double>(positions.size());
  double sum = 0.0;
  for (const PositionLossiness& position : positions) sum += position.*member;
  const double mean = sum / n;
  double squares = 0.0;
  for (const PositionLossiness& position : positions) squares += std::pow(position.*member - mean, 2);
  return {.mean = mean, .standard_error = std::sqrt(squares / (n - 1.0) / n)};
}

}  // namespace

PositionLossiness lossiness(const VerificationRule& rule, const PositionDistributions& distributions) {
  const std::vector<double> emitted = emitted_distribution(rule, distributions);
  const double acceptance = acceptance_probability(rule, distributions);
  const double total_variation = 1.0 - overlap(emitted, distributions.target);
  const std::size_t top = row_argmax(distributions.target);
  const double largest = *std::max_element(emitted.begin(), emitted.end());
  constexpr double round_off = 1e-12;  // ties of p are ties of e up to round-off
  return {.acceptance = acceptance,
          .acceptance_gain = acceptance - overlap(distributions.target, distributions.draft),
          .total_variation = total_variation,
          .kl_divergence = kl_divergence(emitted, distributions.target),
          .entropy_change = row_entropy(emitted) - row_entropy(distributions.target),
          .top1_agreement = emitted[top] >= largest * (1.0 - round_off) ? 1.0 : 0.0,
          .top1_probability = emitted[top],
          .joint_total_variation = total_variation};
}

Lossiness mean_lossiness(std::span<const PositionLossiness> positions) {
  check_at_least("positions", std::ssize(positions), 1);
  return {.acceptance = mean_of(positions, &PositionLossiness::acceptance),
          .acceptance_gain = mean_of(positions, &PositionLossiness::acceptance_gain),
          .total_variation = mean_of(positions, &PositionLossiness::total_variation),
          .kl_divergence = mean_of(positions, &PositionLossiness::kl_divergence),
          .entropy_change = mean_of(positions, &PositionLossiness::entropy_change),
          .top1_agreement = mean_of(positions, &PositionLossiness::top1_agreement),
          .top1_probability = mean_of(positions, &PositionLossiness::top1_probability),
          .joint_total_variation = mean_of(positions, &PositionLossiness::joint_total_variation)};
}

}  // namespace foredraft::sim
