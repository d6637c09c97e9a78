// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analytic/observed/expected_loss.hpp"
#include "answers/advice.hpp"

/// What the steps of add_choice() hand to each other; internal to the folder.
namespace foredraft::answers {

/// One value per draw from the joint uncertainty.
using Draws = std::vector<double>;

/// Each draw of one over that of the other.
[[nodiscard]] Draws ratio_of(const Draws& top, const Draws& bottom);

/// A setting that could be chosen.
struct Option {
  std::size_t curve;
  std::int64_t gamma;  ///< 0: the draft length of this run is not logged, or varies
  bool adaptive;
  auto operator<=>(const Option&) const = default;
};

[[nodiscard]] Option option_of(const LoggedRun& logged, const Advice& advice);

/// Whether it is to draft nothing, which is of no curve.
[[nodiscard]] bool is_off(const Option& option);

/// What is known of a load: the options with their speedups by draw.
struct Known {
  SpeedupRow::Time time;
  Draws speedups;
};
using Options = std::map<Option, Known>;

/// What can be chosen at one load.
struct LoadOptions {
  Options known;
  Options outside;  ///< what was logged at smaller or at larger loads only: no candidates
  bool over_plain;  ///< speedups are over no speculation; else over the first logged run
};

/// By load of the advice.
[[nodiscard]] std::vector<LoadOptions> options_by_load(const AdviceQuestion& question, const Advice& advice);

/// Options with what they lose; the last one is to draft nothing, if it is one.
struct Losses {
  std::vector<Option> options = {};
  std::vector<bool> logged = {};
  std::vector<analytic::Candidate> candidates = {};
  std::vector<analytic::CandidateLoss> losses = {};
};

/// `over_plain`: whether no speculation, whose speedup is 1, is an option.
[[nodiscard]] Losses losses_of(const Options& options, bool over_plain);

/// The choice among what was logged, unless something interpolated or predicted gains clearly more and loses clearly
/// less: a guess must not replace a measurement that is as good.
[[nodiscard]] std::size_t chosen_of(const Losses& losses);

/// The loads that a choice rests on.
struct Traffic {
  std::vector<std::size_t> loads;  ///< that are chosen for: those with a speedup over the plain run, else all
  std::vector<const Options*> options;
  std::vector<double> shares;  ///< of the time without speculation, else of the generated tokens
  bool over_plain;
};

/// The best draft lengths of the main curve by load, if they gain more than a schedule costs at any load; else empty.
/// `fixed`: the setting for all loads.
[[nodiscard]] std::vector<GammaRange> paying_schedule(const Traffic& traffic, const Option& fixed,
                                                      const Advice& advice);

}  // namespace foredraft::answers
