// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analytic/observed/acceptance_counts.hpp"
#include "analytic/observed/acceptance_fit.hpp"
#include "analytic/observed/clustered_estimate.hpp"
#include "analytic/observed/iteration_times.hpp"
#include "answers/profile_prediction.hpp"
#include "answers/run_cost.hpp"
#include "answers/run_estimates.hpp"
#include "answers/runs.hpp"
#include "core/intervals.hpp"
#include "logs/observations_file.hpp"

/// Advice from logs: whether speculative decoding pays, what limits it, and which draft length to set if it is
/// identified.
namespace foredraft::answers {

/// Predicted times of one iteration and of a decode step (`plain`), in ms.
struct PredictedTime {
  double batch = 1.0;
  std::int64_t gamma = 1;
  double plain = 0.0, drafting = 0.0, verification = 0.0, iteration = 0.0;
};

/// Predicted iteration times. Advice takes from them how times grow with gamma; logged times give their level.
struct PredictedTimes {
  std::string evidence = {};  ///< "operators", "data sheet", "a profile of our kernels", ...
  double error = 0.0;  ///< relative standard deviation of the ratio of two times if tokens differ by a factor >= 2
  std::vector<PredictedTime> times = {};
};

/// The times of a prediction, for advice. An unknown error counts as single_run_error.
[[nodiscard]] PredictedTimes predicted_times(const ProfilePrediction& prediction);

struct AdviceQuestion {
  std::vector<logs::ObservedLog> logs;
  std::vector<logs::ObservedLog> plain = {};  ///< without speculation
  std::optional<PredictedTimes> predicted = {};
  std::optional<GpuPrice> gpu_price = {};  ///< to state the cost of tokens
};

/// The speedup of one setting at one load, as far as it is known.
struct SpeedupRow {
  /// Source of the iteration time. extrapolated: the setting was logged only at smaller or only at larger loads;
  /// bounded: at least a decode step.
  enum class Time { logged, interpolated, predicted, extrapolated, bounded };
  std::size_t curve;   ///< index in Advice::curves
  std::int64_t gamma;  ///< the maximum if the engine varies it; 0: not logged
  Time time;
  double value;                ///< as measured, else the median; NaN if bounded: only `high` is known
  double low, high;            ///< 95 %; NaN: unknown error
  double p_best = 0.0;         ///< probability of being the best candidate at this load, K = 0 included
  double expected_loss = 0.0;  ///< expected fraction of the best speedup lost; NaN, as p_best, if not a candidate
  bool chosen = false;         ///< the choice at this load, regardless of that for all loads
};

/// One logged setting at a load.
struct LoggedRun {
  std::size_t run;    ///< index in Advice::runs
  std::size_t curve;  ///< index in Advice::curves
  /// Over the run without speculation: ratio of TPOT, or of output tokens/s if one server does not keep up with a
  /// stated request rate or neither run has a TPOT. Empty: unknown.
  std::optional<analytic::ClusteredEstimate> speedup = {};
  std::optional<analytic::ClusteredEstimate> relative = {};  ///< the same over the first logged run of the load
};

/// One load: its measurements, and the speedups at other draft lengths computed from them.
struct LoadAdvice {
  RunLoad load = {};
  std::string name = {};  ///< from load_text
  std::optional<double> requests = {}, context_tokens = {};
  std::vector<LoggedRun> logged = {};     ///< in the order of Advice::runs
  std::optional<std::size_t> plain = {};  ///< index in Advice::runs; empty: none is comparable
  std::string arms_differ = {};           ///< why no run without speculation is comparable; else empty
  bool by_capacity = false;  ///< the server does not keep up with a stated rate: speedups are those of output tokens/s
  std::vector<SpeedupRow> by_gamma = {};  ///< by curve and gamma
  double share = 0.0;                     ///< fraction of the tokens that all loads generated
  std::size_t main = 0;  ///< index in `logged`: the recommended setting if logged here, else the fastest
  std::optional<std::int64_t> gamma = {};  ///< of `main`; empty: adaptive or not logged
  std::optional<Estimate> tokens = {};     ///< per iteration of `main`
  std::optional<Estimate> iteration_ms = {},
                          plain_ms = {};             ///< of `main`, and TPOT without speculation; errors may be assumed
  std::optional<analytic::SpeedupChain> chain = {};  ///< of `main`; empty: a time is missing or not comparable
  std::optional<double> prompt_share = {};           ///< prompt tokens divided by all tokens, of `main`
  std::optional<analytic::PrefillTime> prefill = {};  ///< if windows determine the cost of prompt tokens
  double at_most = 0.0;                               ///< upper bound of the speedup at any draft length; NaN: unknown

  [[nodiscard]] const std::optional<analytic::ClusteredEstimate>& speedup() const { return logged[main].speedup; }
};

// ---- Variation of acceptance between requests and categories of prompts, which the pooled mean hides.

/// One category of prompts, reasoning mode or range of context lengths.
struct StratumTokens {
  std::string dimension;  ///< "category", "reasoning", "context"
  std::string name;       ///< "coding", "on", "1k to 2k"
  std::size_t observations;
  double steps;
  Estimate tokens;  ///< per iteration
};

/// Quantiles of tokens per iteration over single requests.
struct RequestSpread {
  std::size_t requests;
  double tenth, half, nine_tenths;
};

// ---- The answer

struct Recommendation {
  std::int64_t gamma;  ///< 0: no speculation; the maximum if adaptive
  bool adaptive = false;
  std::string drafter = {};               ///< if several were logged
  std::vector<GammaRange> schedule = {};  ///< empty unless it beats one gamma by more than its cost at some load
  double value, low, high;                ///< speedup over all loads; NaN: unknown
  double p_best, expected_loss;
  std::vector<std::int64_t>
      ties;                ///< draft lengths whose expected loss is within equal_loss of the least; gamma is one
  bool over_plain = true;  ///< false: the best logged setting; no run without speculation is comparable
};

/// No acceptance was logged, or that of no block size could be fitted.
struct NoAcceptance {};

/// Acceptance of one drafter as a function of the draft length, from all of its runs.
struct AcceptanceCurve {
  std::string name = {};    ///< drafter, and what distinguishes it from others; empty: not logged
  RunSetting setting = {};  ///< of its runs; gamma empty
  std::variant<NoAcceptance, analytic::FitProblem, analytic::AcceptanceFit> acceptance = NoAcceptance{};
  std::vector<analytic::TokensAtGamma> by_gamma = {};  ///< gamma = 1 to 12 or the longest logged; empty or NaN: unknown

  [[nodiscard]] const analytic::AcceptanceFit* fit() const { return std::get_if<analytic::AcceptanceFit>(&acceptance); }
  /// nullptr if not in by_gamma.
  [[nodiscard]] const analytic::TokensAtGamma* at(std::int64_t gamma) const;
};

struct Advice {
  std::string format, engine, version;
  logs::EngineSettings settings;
  std::vector<RunEstimates> runs;
  std::vector<AcceptanceCurve> curves;
  std::size_t main_curve = 0;                       ///< of the recommendation, else of the most steps or tokens
  std::optional<std::int64_t> gamma_observed = {};  ///< of main_curve, with the most steps; empty if adaptive
  std::optional<double> verification_steps = {};    ///< counted; empty: only acceptance lengths were logged
  std::optional<Estimate> tokens_observed = {};     ///< at gamma_observed
  std::optional<RequestSpread> spread = {};         ///< at gamma_observed, as the strata
  std::vector<StratumTokens> strata = {};
  std::vector<LoadAdvice> loads = {};
  std::vector<std::string> causes = {};  ///< words of the JSON schema, main cause first
  std::optional<Recommendation> recommendation = {};
  std::string action;    ///< the first sentence: what to do
  std::string cause;     ///< one sentence; empty: none was found
  std::string why_not;   ///< without a recommendation: why, and the cheapest measurement that would give one
  std::string next;      ///< next step; empty: none
  std::string evidence;  ///< the class of evidence and its known error
  /// Every measured speedup differs from 1 (99.9 %), and the choice was logged or its interval lies above 1.
  bool sign_certain = false;
  std::optional<GpuPrice> gpu_price = {};  ///< of the question
  std::vector<logs::LogWarning> warnings = {};

  /// The main curve; nullptr: no speculative run.
  [[nodiscard]] const AcceptanceCurve* curve() const { return curves.empty() ? nullptr : &curves[main_curve]; }
  [[nodiscard]] const analytic::AcceptanceFit* fit() const { return curves.empty() ? nullptr : curve()->fit(); }
  /// Why the acceptance of the main curve could not be estimated; nullptr if it could, or if it was not logged.
  [[nodiscard]] const analytic::FitProblem* problem() const;
  /// Whether the data permit any conclusion: an acceptance, or the speeds of two settings.
  [[nodiscard]] bool concludes() const;
  /// The loads whose main run has a measured speedup.
  [[nodiscard]] std::vector<const LoadAdvice*> compared() const;
  [[nodiscard]] bool warns(std::string_view code) const;
  /// Whether times stand for whole answers instead of tokens, as a warning says.
  [[nodiscard]] bool times_answers() const;
};

/// The batch sizes to predict times for: the requests in flight of the speculative runs, limited to 1 to `largest`,
/// ascending. Empty if no log states them.
[[nodiscard]] std::vector<std::int64_t> advised_batches(const AdviceQuestion& question, std::int64_t largest);

/// Maximum draft length in an answer, unless a longer one was logged.
inline constexpr std::int64_t longest_advised = 12;

[[nodiscard]] Advice advise(const AdviceQuestion& question);

/// Whether the measured speedups are gains or losses for certain: "sign certain", "sign uncertain"; of single runs what
/// holds with their assumed error: "sign clear if so", "sign uncertain at 2 loads". Empty without a speedup.
[[nodiscard]] std::string sign_text(const Advice& advice);

/// The counts at `gamma_observed` of all loads of the main curve, if its steps are too few for a fit
/// (FitProblem::Reason::too_few_steps); nullopt: a fit tells more, or no positions are known.
[[nodiscard]] std::optional<analytic::PooledCounts> counts_of_few_steps(const Advice& advice);

/// Schema foredraft.advise/1: docs/schemas/advise.schema.json. `engine_version`: as in settings_question().
[[nodiscard]] nlohmann::ordered_json to_json(const Advice& advice, std::string_view engine_version);

/// "1.23x +- 0.04": 95 %, half width rounded up. Without "+-" if the error is unknown.
[[nodiscard]] std::string with_half_width(const Estimate& estimate, std::string_view unit = "");
[[nodiscard]] std::string with_half_width(const analytic::ClusteredEstimate& estimate, std::string_view unit = "");

}  // namespace foredraft::answers
