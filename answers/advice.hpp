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

#include "analytic/observed/acceptance_fit.hpp"
#include "analytic/observed/gamma_choice.hpp"
#include "analytic/observed/iteration_times.hpp"
#include "answers/profile_prediction.hpp"
#include "answers/run_cost.hpp"
#include "answers/runs.hpp"
#include "core/intervals.hpp"
#include "logs/observations_file.hpp"

/// Advice from logs: whether speculative decoding pays, what limits it, and which draft length to set if it is
/// identified.
namespace foredraft::answers {

/// Times of one iteration that a profile or a device predicts, in ms.
struct PredictedTime {
  double batch = 1.0;
  std::int64_t gamma = 1;
  double plain = 0.0, drafting = 0.0, verification = 0.0, iteration = 0.0;
};

/// Predicted iteration times: a prediction gives their shape as a function of gamma, a logged time their level.
struct PredictedTimes {
  std::string evidence = {};  ///< "operators", "data sheet", "a profile of our kernels", ...
  double error = 0.0;         ///< relative standard deviation of the ratio of two times, at twice the tokens or more
  std::vector<PredictedTime> times = {};
};

/// The times of a prediction for advice; an unknown error of steps is taken as that of a single run.
[[nodiscard]] PredictedTimes predicted_times(const ProfilePrediction& prediction);

struct AdviceQuestion {
  std::vector<logs::ObservedLog> logs;
  std::vector<logs::ObservedLog> plain = {};
  std::optional<PredictedTimes> predicted = {};
  std::optional<GpuPrice> gpu_price = {};  ///< to state what tokens cost
};

/// One load: its measurements, and the speedups at other draft lengths that follow.
struct LoadAdvice {
  RunLoad load;
  std::string name;  ///< from load_text
  std::optional<double> requests, context_tokens;
  std::optional<std::int64_t> gamma;                         ///< gamma_observed if it was logged here
  std::vector<std::int64_t> gammas;                          ///< with logged times, ascending
  std::optional<Estimate> tokens;                            ///< per iteration at `gamma`
  std::optional<Estimate> iteration_ms = {}, plain_ms = {};  ///< plain: TPOT
  std::optional<analytic::SpeedupChain> chain = {};          ///< empty: no run without speculation at this load
  std::string arms_differ = {};                              ///< why the run without speculation is not comparable
  std::optional<double> prompt_share = {};
  std::optional<analytic::PrefillTime> prefill = {};  ///< if windows determine the cost of prompt tokens
  std::vector<analytic::SpeedupAt> by_gamma = {};
  std::optional<analytic::BestAt> best = {};  ///< over the draft lengths with known times, at least two
  double at_most = 0.0;                       ///< upper bound of the speedup of any draft length; NaN: not known
  double share = 0.0;                         ///< of all generated tokens
};

// ---- Variation of acceptance between requests and kinds of prompts, which the pooled mean hides.

/// One category, kind of answer or range of contexts.
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
  std::int64_t gamma;                        ///< 0: no speculation, measured on a server without it
  std::vector<ScheduleRange> schedule = {};  ///< batches; only if it beats one gamma by more than its cost
  double value, low, high;                   ///< speedup over all loads
  std::vector<std::int64_t> ties;
};

/// Why no acceptance could be estimated.
struct NoAcceptance {};

struct Advice {
  std::string format, engine, version;
  logs::EngineSettings settings;
  std::vector<Run> runs;
  std::optional<std::int64_t> gamma_observed = {};  ///< of the first log
  std::optional<double> verification_steps = {};    ///< counted; empty: lengths as printed
  std::optional<Estimate> tokens_observed = {};     ///< at gamma_observed
  std::variant<NoAcceptance, analytic::FitProblem, analytic::AcceptanceFit> acceptance = NoAcceptance{};
  std::vector<analytic::TokensAtGamma> by_gamma = {};  ///< at least gamma 1 to 12, if they are identified
  std::optional<RequestSpread> spread = {};            ///< at gamma_observed, as are the strata
  std::vector<StratumTokens> strata = {};
  std::vector<LoadAdvice> loads = {};
  std::vector<std::string> causes = {};  ///< words of the JSON schema, the main cause first
  std::optional<Recommendation> recommendation = {};
  std::string action;    ///< the first sentence: what to do
  std::string cause;     ///< one sentence; empty: none was found
  std::string why_not;   ///< if there is no recommendation: why, and the cheapest measurement that would give one
  std::string evidence;  ///< the class of evidence and its known error
  bool sign_certain = false;
  std::vector<logs::LogWarning> warnings = {};

  [[nodiscard]] const analytic::AcceptanceFit* fit() const { return std::get_if<analytic::AcceptanceFit>(&acceptance); }
  /// Whether acceptance could be estimated: a printed length with an unknown draft length counts.
  [[nodiscard]] bool concludes() const {
    return fit() != nullptr || (std::holds_alternative<NoAcceptance>(acceptance) && tokens_observed.has_value());
  }
  /// The loads with a measured speedup.
  [[nodiscard]] std::vector<const LoadAdvice*> compared() const;
  [[nodiscard]] bool warns(std::string_view code) const;
};

/// The batches that times are wanted at: the requests in flight of the speculative runs, from 1 to `largest`;
/// ascending. Empty: no log says how many there were.
[[nodiscard]] std::vector<std::int64_t> advised_batches(const AdviceQuestion& question, std::int64_t largest);

/// Maximum draft length of an answer, unless a longer one was logged.
inline constexpr std::int64_t longest_advised = 12;

[[nodiscard]] Advice advise(const AdviceQuestion& question);

/// Schema foredraft.advise/1: docs/schemas/advise.schema.json.
[[nodiscard]] nlohmann::ordered_json to_json(const Advice& advice, std::string_view engine_version);

// ---- The steps of advise(), in their order; internal to the folder.

/// Strata of the observations at this draft length (empty: of all) that counted steps. A dimension is included if its
/// values were logged and at least two of them have 200 steps each. Within it the lowest acceptance length comes first;
/// contexts are in ascending order.
[[nodiscard]] std::vector<StratumTokens> tokens_by_stratum(std::span<const logs::ObservedLog> logs,
                                                           const std::optional<std::int64_t>& gamma);

/// Over requests of at least 20 steps; nullopt for fewer than 10.
[[nodiscard]] std::optional<RequestSpread> spread_of_requests(std::span<const logs::ObservedLog> logs,
                                                              const std::optional<std::int64_t>& gamma);

/// Loads of the speculative runs, each with its comparable run without speculation. Adds warnings (W03, W09, W16).
void add_loads(const AdviceQuestion& question, Advice& advice);

/// Speedups at other draft lengths, and the draft length to use if it is identified.
void add_choice(const AdviceQuestion& question, Advice& advice);

/// Causes, action, cause, why_not and evidence, as text.
void add_words(const AdviceQuestion& question, Advice& advice);

/// Whether the interval of the acceptance length is much wider than 5 %, so that nothing is recommended.
[[nodiscard]] bool too_uncertain(const Advice& advice);

/// Names of a factor in documents and in tables.
struct FactorNames {
  std::string_view word, title;
};
[[nodiscard]] FactorNames names_of(analytic::ChainFactor factor);

/// "1.23x +- 0.04", 95 %, the half width rounded up.
[[nodiscard]] std::string with_half_width(const Estimate& estimate, std::string_view unit = "");

}  // namespace foredraft::answers
