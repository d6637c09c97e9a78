// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analytic/cost/load_equilibrium.hpp"
#include "answers/profile_prediction.hpp"
#include "core/parallel.hpp"
#include "foredraft/quantities.hpp"
#include "foredraft/server.hpp"
#include "latency/engines/engines.hpp"
#include "latency/surfaces/pair_surface.hpp"

/// The answer to `foredraft predict --concurrency` and `--request-rate`: a server under a load, with and without
/// speculation. Each draft length has a batch size of its own: at the same request rate, faster decoding leaves fewer
/// requests in flight.
namespace foredraft::answers {

/// Limits that a server must keep for 99 % of the requests. Empty: no limit.
struct Objective {
  std::optional<double> ttft_ms = {};
  std::optional<double> tpot_ms = {};
  [[nodiscard]] bool any() const { return ttft_ms || tpot_ms; }
};

/// One server, which may span several GPUs, and its requests.
struct LoadQuestion {
  ProfileQuestion pair;     ///< its batches and contexts are ignored: they follow from the load
  std::string source;       ///< where the times come from, for messages
  Arrivals arrivals = {};   ///< closed, poisson or recorded
  TokenCount prompt = {};   ///< at least 1 token; the mean for a recording
  TokenCount output = {};   ///< at least 2 tokens
  double prefix_hit = 0.0;  ///< Server::prefix_hit
  std::shared_ptr<const RequestRecording> recorded = {};
  /// Empty: not named. The first of latency::common_engines() then gives the answer, and the interval covers all of
  /// them.
  std::optional<latency::Engine> engine = {};
  std::optional<std::int64_t> graph_tokens = {};  ///< instead of the engine's
  /// Evaluated in addition to the draft lengths. The last range extends to the maximum batch size. Empty: none.
  std::vector<GammaRange> schedule = {};
  double switch_us = 0.0;  ///< Server::switch_us, for the schedule
  std::int64_t switch_margin = 0;
  Objective objective = {};
  std::optional<double> gpu_hour_price = {};         ///< for one GPU, in any currency
  std::optional<std::int64_t> max_batch = {};        ///< instead of the engine's, at most 65,536
  std::optional<latency::PromptSheet> prompts = {};  ///< for profiles without times of prefill
  bool percentiles = true;                           ///< true: simulate; false: closed form only
};

/// What limits the batch size.
enum class BatchLimit { setting, memory, times };

/// Mean times without speculation divided by those with it, each at its own batch size. With a fixed number of clients,
/// `request` is also the ratio of throughputs [Little1961].
struct LoadSpeedup {
  double request;  ///< of whole requests
  double decode;   ///< of the tokens after the first
};

/// One draft length under the load. With gamma 0 the server holds no draft model.
struct AtLoad {
  std::int64_t gamma = 0;
  std::vector<GammaRange> schedule = {};  ///< if not empty, this schedule; gamma is then its maximum
  double tokens = 1.0;                    ///< per iteration
  std::int64_t max_batch = 0;             ///< 0: it does not fit into memory; nothing below is known
  BatchLimit limit = BatchLimit::setting;
  analytic::LoadEquilibrium equilibrium = {};  ///< closed form
  bool beyond_graphs = false;                  ///< as LoadServers::beyond_graphs()
  std::optional<double> memory_bytes = {};     ///< on the fullest device, at the mean batch size
  std::optional<Estimates> served = {};        ///< simulated; empty if overloaded or not asked for (percentiles)
  std::optional<bool> meets_objective = {};    ///< empty without an objective or a simulation
  std::optional<LoadSpeedup> speedup = {};     ///< closed form; empty if overloaded, with or without speculation
  /// Intervals of `speedup` from the errors of the times and the engine. Empty at gamma 0 and for times of unknown
  /// error. A bound of 0: the server may be overloaded with speculation. That it may be overloaded without it would
  /// only raise the high bound, and is left out.
  std::optional<Interval> request_interval = {}, decode_interval = {};
  /// Maximum requests/s per GPU that meet the objective; without an objective or a simulation, those that a full batch
  /// sustains.
  double requests_per_s_per_gpu = 0.0;
  std::optional<double> cost_per_million = {};  ///< of output tokens at this load; empty: no price, or overloaded
  [[nodiscard]] bool answers() const { return max_batch > 0 && !equilibrium.overloaded; }
};

struct LoadPrediction {
  LoadQuestion question;
  latency::Engine engine;      ///< used for the answer
  ProfilePrediction decoding;  ///< one sequence at the context length of the prompt
  Evidence evidence;
  std::int64_t gpus = 1;
  std::vector<AtLoad> lengths = {};               ///< gamma = 0, 1, ...
  std::optional<AtLoad> scheduled = {};           ///< the schedule of the question
  std::optional<std::int64_t> best_latency = {};  ///< smallest gamma near the minimum request time; empty: overloaded
  std::optional<std::int64_t> best_throughput = {};  ///< likewise near the maximum requests/s per GPU
  /// Tokens/s with one budget of drafted tokens for the whole batch (analytic/draft_length/token_budget), divided by
  /// those of the best draft length at the same batch size; at least 1. Empty: unknown (answers/load_budget.hpp).
  std::optional<double> adaptive_gain = {};

  [[nodiscard]] const AtLoad& plain() const { return lengths.front(); }
  [[nodiscard]] const AtLoad& at(std::int64_t gamma) const { return lengths[static_cast<std::size_t>(gamma)]; }
  /// At the draft length of the question, else at the best for latency; null if neither is known.
  [[nodiscard]] const AtLoad* shown() const;
};

/// The draft length that the verdict is about: the one of the question if above 0, else the best for latency, else the
/// one with the minimum request time among gamma = 1, 2, ...; null if the server is overloaded with it.
[[nodiscard]] const AtLoad* judged(const LoadPrediction& prediction);

/// Whether judged() pays: whether the interval of its speedup of whole requests lies above 1, contains 1, or lies
/// below. If only autoregressive decoding is overloaded, it pays; if judged() is null, it does not.
[[nodiscard]] Payoff payoff_of(const LoadPrediction& prediction);

/// The answer at one load. `progress` gets the completed fraction. Throws DomainError if the times cannot answer the
/// question, and Interrupted when stopped.
[[nodiscard]] LoadPrediction predict_load(const LoadQuestion& question, const latency::Profile& profile,
                                          StopToken stop = {}, const std::function<void(double share)>& progress = {});

/// Closed-form predictions at other numbers of clients or request rates, in ascending order, for figures.
[[nodiscard]] std::vector<LoadPrediction> predict_loads(const LoadQuestion& question, const latency::Profile& profile,
                                                        StopToken stop = {});

/// Schema foredraft.predict.load/1: docs/schemas/predict.load.schema.json.
[[nodiscard]] nlohmann::ordered_json to_json(const LoadPrediction& prediction);

}  // namespace foredraft::answers
