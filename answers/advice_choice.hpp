// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analytic/observed/expected_loss.hpp"
#include "answers/advice.hpp"

/// Options, their losses and the choice, for add_choice(); internal to the folder.
namespace foredraft::answers {

/// One value per draw from the joint uncertainty.
using Draws = std::vector<double>;

/// top / bottom, draw by draw.
[[nodiscard]] Draws ratio_of(const Draws& top, const Draws& bottom);

/// A setting to choose from.
struct Option {
  std::size_t curve;
  std::int64_t gamma;  ///< the maximum if adaptive; 0: no speculation, or not logged
  bool adaptive;
  auto operator<=>(const Option&) const = default;
};

[[nodiscard]] Option option_of(const LoggedRun& logged, const Advice& advice);

/// False for a load of one kind of prompts whose logged acceptance differs from that of the curve, which is of all
/// kinds.
[[nodiscard]] bool curve_holds_at(const LoadAdvice& load, std::size_t curve, const Advice& advice);

/// True for no speculation, which belongs to no curve.
[[nodiscard]] bool is_off(const Option& option);

/// Speedups of an option by draw, and the source of its iteration time.
struct Known {
  SpeedupRow::Time time;
  Draws speedups;
};
using Options = std::map<Option, Known>;

/// The options at one load.
struct LoadOptions {
  Options known;
  Options outside;  ///< logged only at smaller or only at larger loads: no candidates
  bool over_plain;  ///< true: speedups over no speculation; false: over the first logged run
};

/// In the order of the loads of the advice.
[[nodiscard]] std::vector<LoadOptions> options_by_load(const AdviceQuestion& question, const Advice& advice);

/// Options with their expected losses. No speculation, if it is an option, comes last.
struct Losses {
  std::vector<Option> options = {};
  std::vector<bool> logged = {};
  std::vector<analytic::Candidate> candidates = {};
  std::vector<analytic::CandidateLoss> losses = {};
};

/// `over_plain`: no speculation, with speedup 1, is an option too.
[[nodiscard]] Losses losses_of(const Options& options, bool over_plain);

/// What an option that was not logged must gain over the logged ones of a load: a percent, or half of what a single run
/// may be off by where that is all that is known of the errors.
[[nodiscard]] double clear_gain(const LoadAdvice& load);

/// Index of the best logged option, unless an interpolated or predicted one is better by more than `clearly` in speedup
/// and in expected loss: an estimate must not replace a measurement that is as good.
[[nodiscard]] std::size_t chosen_of(const Losses& losses, double clearly);

/// The loads that one choice is made for.
struct LoggedTraffic {
  std::vector<std::size_t> loads;  ///< with a speedup over no speculation; if none has one, with several options
  std::vector<const Options*> options;
  std::vector<double> shares;  ///< of the time without speculation, else of the generated tokens
  bool over_plain;
};

/// The best draft lengths of the main curve by load, if the gain over `fixed`, the setting for all loads, exceeds the
/// cost of a schedule at some load; else empty.
[[nodiscard]] std::vector<GammaRange> paying_schedule(const LoggedTraffic& traffic, const Option& fixed,
                                                      const Advice& advice);

}  // namespace foredraft::answers
