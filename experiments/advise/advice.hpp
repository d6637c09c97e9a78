// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analytic/observed/acceptance_fit.hpp"
#include "analytic/observed/gamma_choice.hpp"
#include "analytic/observed/iteration_times.hpp"
#include "core/intervals.hpp"
#include "experiments/advise/strata.hpp"
#include "experiments/predict/profile_prediction.hpp"
#include "experiments/runs/runs.hpp"

/// What logs say of speculative decoding: whether it pays, why not, and what to set where that is identified.
namespace foredraft::experiments {

/// Times of one iteration that a profile or a device predicts, in ms.
struct PredictedTime {
  double batch = 1.0;
  std::int64_t gamma = 1;
  double plain = 0.0, drafting = 0.0, verification = 0.0, iteration = 0.0;
};

/// A prediction gives the shape of the iteration time in gamma; a logged time gives its level.
struct PredictedTimes {
  std::string evidence = {};  ///< "operators", "data sheet", "a profile of our kernels", ...
  double error = 0.0;         ///< one standard deviation of the ratio of two times over it, at twice the tokens or more
  std::vector<PredictedTime> times = {};
};

struct AdviceQuestion {
  std::vector<logs::ObservedLog> logs;
  std::vector<logs::ObservedLog> plain = {};
  std::optional<PredictedTimes> predicted = {};
};

/// One load: what was measured there and what follows at other draft lengths.
struct LoadAdvice {
  RunLoad load;
  std::string name;  ///< as load_text
  std::optional<double> requests, context_tokens;
  std::optional<std::int64_t> gamma;                         ///< gamma_observed where it was logged here
  std::vector<std::int64_t> gammas;                          ///< with logged times, ascending
  std::optional<Estimate> tokens;                            ///< per iteration at `gamma`
  std::optional<Estimate> iteration_ms = {}, plain_ms = {};  ///< plain: TPOT
  std::optional<analytic::SpeedupChain> chain = {};          ///< nothing: no plain run at this load
  std::string arms_differ = {};                              ///< why the plain run may not be compared
  std::optional<double> prompt_share = {};
  std::optional<analytic::PrefillTime> prefill = {};  ///< where windows tell what prompts take of iterations
  std::vector<analytic::SpeedupAt> by_gamma = {};
  std::optional<analytic::BestAt> best = {};  ///< over the draft lengths of known time, two at least
  double at_most = 0.0;                       ///< no draft length gains more; NaN: not known
  double share = 0.0;                         ///< of all generated tokens
};

struct Recommendation {
  std::int64_t gamma;                        ///< 0: no speculation, on a server without it
  std::vector<ScheduleRange> schedule = {};  ///< batches, only where it beats one gamma by more than its cost
  double value, low, high;                   ///< speedup over all loads
  std::vector<std::int64_t> ties;
};

/// Why there is no acceptance at all.
struct NoAcceptance {};

struct Advice {
  std::string format, engine, version;
  logs::EngineSettings settings;
  std::vector<Run> runs;
  std::optional<std::int64_t> gamma_observed = {};  ///< of the first log
  std::optional<double> verification_steps = {};    ///< counted; nothing: lengths as printed
  std::optional<Estimate> tokens_observed = {};     ///< at gamma_observed
  std::variant<NoAcceptance, analytic::FitRefusal, analytic::AcceptanceFit> acceptance = NoAcceptance{};
  std::vector<analytic::TokensAtGamma> by_gamma = {};  ///< gamma 1 to 12 at least, unless nothing identifies them
  std::optional<RequestSpread> spread = {};            ///< at gamma_observed, as are the strata
  std::vector<StratumTokens> strata = {};
  std::vector<LoadAdvice> loads = {};
  std::vector<std::string> causes = {};  ///< words of the contract, the first is the main one
  std::optional<Recommendation> recommendation = {};
  std::string action;    ///< the first sentence: what to do
  std::string cause;     ///< one sentence; empty: none was found
  std::string why_not;   ///< there is no recommendation, and the cheapest step that gives one
  std::string evidence;  ///< the class of evidence and what is known of its error
  bool sign_certain = false;
  std::vector<logs::LogWarning> warnings = {};

  [[nodiscard]] const analytic::AcceptanceFit* fit() const { return std::get_if<analytic::AcceptanceFit>(&acceptance); }
  /// Whether acceptance could be estimated: a printed length of an unknown draft length counts.
  [[nodiscard]] bool concludes() const {
    return fit() != nullptr || (std::holds_alternative<NoAcceptance>(acceptance) && tokens_observed.has_value());
  }
};

/// The longest draft that is answered, unless a longer one was logged.
inline constexpr std::int64_t longest_advised = 12;

/// What a schedule costs in an engine: the share of the speedup that it must gain to be advised.
[[nodiscard]] double schedule_cost(std::string_view engine);

[[nodiscard]] Advice advise(const AdviceQuestion& question);

/// About ten lines; the first sentence says what to do. `settings`: what to paste, empty: nothing.
[[nodiscard]] std::string to_text(const Advice& advice, std::string_view settings);

/// Schema foredraft.advise/1: docs/schemas/advise.schema.json.
[[nodiscard]] nlohmann::ordered_json to_json(const Advice& advice, std::string_view engine_version);

}  // namespace foredraft::experiments
