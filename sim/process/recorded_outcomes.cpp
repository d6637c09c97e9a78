// SPDX-License-Identifier: Apache-2.0
#include "sim/process/recorded_outcomes.hpp"

#include <fmt/format.h>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "core/random_stream.hpp"
#include "foredraft/errors.hpp"
#include "sim/process/outcome_counts.hpp"

namespace foredraft::sim {
namespace {

constexpr std::uint8_t easy_run = 0;
constexpr std::uint8_t hard_run = 1;
constexpr Threshold even{.high = 1U << 15U, .low = 0};

/// Continuation of a run of one kind.
struct KindOfRun {
  double stay_odds;  ///< within a draft
  double rho;

  static Threshold threshold(double odds) { return threshold_of(1.0 / (1.0 + 1.0 / odds), 1.0 / (1.0 + odds)); }
  [[nodiscard]] Threshold within() const { return threshold(stay_odds); }
  [[nodiscard]] Threshold across() const { return threshold(stay_odds * rho); }

  /// log P(all positions of a draft of gamma and its bonus token are accepted | the first is), gamma >= 1.
  [[nodiscard]] double log_full(std::int64_t gamma) const {
    const double after_first = gamma == 1 ? 0.0 : static_cast<double>(gamma - 1) * -std::log1p(1.0 / stay_odds);
    return after_first - std::log1p(1.0 / (stay_odds * rho));
  }
};

/// An iteration after a rejection is fully accepted in a run of kind k with probability b/2 full_k, an iteration inside
/// such a run with across_k full_k. In equilibrium, the state "an iteration starts inside a run of
/// kind k" is entered as often as it is left.
void set_start(const Runs& runs, const std::array<KindOfRun, 2>& kinds, std::int64_t gamma,
               RunsDistribution& distribution) {
  if (gamma == 0 || runs.b == 0.0) return;
  std::array<double, 2> begin{};
  std::array<double, 2> end{};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const double log_full = kinds.at(k).log_full(gamma);
    begin.at(k) = 0.5 * runs.b * std::exp(log_full);
    end.at(k) = -std::expm1(log_full - std::log1p(1.0 / (kinds.at(k).stay_odds * kinds.at(k).rho)));
  }
  double easy = begin[0] * end[1];
  double hard = begin[1] * end[0];
  const double rejected = end[0] * end[1];
  if (rejected == 0.0 && easy == 0.0 && hard == 0.0) {  // no run ever ends
    easy = begin[0];
    hard = begin[1];
  }
  const double accepted = easy + hard;
  if (accepted == 0.0) return;
  distribution.accepted_before = threshold_of(accepted / (accepted + rejected), rejected / (accepted + rejected));
  distribution.easy_before = threshold_of(easy / accepted, hard / accepted);
}

}  // namespace

RunsDistribution::RunsDistribution(const Runs& runs, std::int64_t gamma) : begin(threshold_of(runs.b, 1.0 - runs.b)) {
  const double odds = runs.a / (1.0 - runs.a);
  const std::array kinds{KindOfRun{odds * std::exp(runs.spread), runs.rho},
                         KindOfRun{odds * std::exp(-runs.spread), runs.rho}};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    within.at(k) = kinds.at(k).within();
    across.at(k) = kinds.at(k).across();
  }
  set_start(runs, kinds, gamma, *this);
}

RunsState RunsStepper::start(std::uint64_t text) {
  const bool after_acceptance = starts_.below(distribution_.accepted_before, text, 0);
  return {after_acceptance, starts_.below(distribution_.easy_before, text, 1) ? easy_run : hard_run};
}

std::int64_t RunsStepper::accepted_steps(std::uint64_t iteration, RunsState& state, std::int64_t gamma) {
  std::int64_t position = 0;
  if (!state.after_acceptance) {
    if (!draws_.below(distribution_.begin, iteration, 0)) return 0;
    state.kind = draws_.below(even, iteration, kind_draw_) ? easy_run : hard_run;
    position = 1;
  }
  for (; position <= gamma; ++position) {
    const bool across = position == 0 || position == gamma;
    const Threshold& goes_on = (across ? distribution_.across : distribution_.within).at(state.kind);
    if (!draws_.below(goes_on, iteration, static_cast<std::uint64_t>(position))) break;
  }
  state.after_acceptance = position > gamma;
  return position;
}

std::vector<std::int8_t> trace_from_accepted_counts(const std::vector<std::int64_t>& accepted, std::int64_t gamma,
                                                    Convention convention) {
  check_range("gamma", gamma, min_gamma(convention), max_counted_gamma);
  if (accepted.empty()) throw DomainError("invalid accepted (must have at least one entry)");
  std::vector<std::int8_t> outcomes;
  for (std::size_t i = 0; i < accepted.size(); ++i) {
    check_range(fmt::format("accepted[{}]", i), accepted[i], 0, gamma);
    outcomes.insert(outcomes.end(), static_cast<std::size_t>(accepted[i]), std::int8_t{1});
    if (accepted[i] < gamma) {
      outcomes.push_back(0);
    } else if (convention == Convention::bonus) {
      outcomes.push_back(-1);
    }
  }
  return outcomes;
}

RecordedOutcomes::RecordedOutcomes(std::shared_ptr<const Recording> recording) : recording_(std::move(recording)) {
  std::uint64_t accepted = 0;
  std::uint64_t tested = 0;
  for (const auto& sequence : recording_->sequences) {
    offsets_.push_back(positions_);
    sizes_.push_back(sequence.size());
    positions_ += sequence.size();
    for (const std::int8_t outcome : sequence) {
      accepted += outcome == 1 ? 1 : 0;
      tested += outcome >= 0 ? 1 : 0;
    }
  }
  for (const auto& sequence : recording_->accepted_from) {
    sizes_.push_back(sequence.size());
    positions_ += sequence.size();
  }
  if (tested == 0) return;
  const auto number = static_cast<double>(tested);
  frequency_ = threshold_of(static_cast<double>(accepted) / number, static_cast<double>(tested - accepted) / number);
}

bool RecordedOutcomes::is_accepted(std::int8_t outcome, std::uint64_t place, const RunKey& key) const {
  if (outcome >= 0) return outcome == 1;
  const PhiloxWords words = philox4x32_10(
      philox_counter({.purpose = Purpose::trace, .point = key.point, .block = 0}, place), philox_key(key.seed));
  const std::uint32_t leading = words[2] >> 16U;
  const std::uint64_t trailing = std::uint64_t{words[1]} << 32U | words[0];
  return leading < frequency_.high || (leading == frequency_.high && trailing < frequency_.low);
}

}  // namespace foredraft::sim
