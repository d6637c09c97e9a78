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

/// What `foredraft predict --concurrency` and `--request-rate` answer: a server under a load, with and without
/// speculation. Each draft length is asked at its own batch: at one rate, speculation answers sooner, so that fewer
/// requests are in flight.
namespace foredraft::answers {

/// What a server must keep for 99 % of the requests; nothing: no such limit.
struct Objective {
  std::optional<double> ttft_ms = {};
  std::optional<double> tpot_ms = {};
  [[nodiscard]] bool any() const { return ttft_ms || tpot_ms; }
};

/// One server, which may span several GPUs, and its requests.
struct LoadQuestion {
  ProfileQuestion pair;     ///< its batches and contexts are not looked at: they follow from the load
  std::string source;       ///< of the times, for messages
  Arrivals arrivals = {};   ///< closed, poisson or recorded
  TokenCount prompt = {};   ///< of at least 1 token; of a recording the mean
  TokenCount output = {};   ///< of at least 2 tokens
  double prefix_hit = 0.0;  ///< Server::prefix_hit
  std::shared_ptr<const RequestRecording> recorded = {};
  /// The engine; none: it was not named, and the interval covers latency::common_engines(), of which the first gives
  /// the answer.
  std::optional<latency::Engine> engine = {};
  std::optional<std::int64_t> graph_tokens = {};  ///< in place of the engine's
  /// Evaluated besides the draft lengths; the last range goes on to the largest batch; empty: none.
  std::vector<GammaRange> schedule = {};
  double switch_us = 0.0;  ///< of it, as in Server
  std::int64_t switch_margin = 0;
  Objective objective = {};
  std::optional<double> gpu_hour_price = {};         ///< of one GPU, in any currency
  std::optional<std::int64_t> max_batch = {};        ///< in place of the engine's, at most 65,536
  std::optional<latency::PromptSheet> prompts = {};  ///< of profiles whose steps time no prompts
  bool percentiles = true;                           ///< simulate; false: closed form alone
};

/// What the largest batch follows from.
enum class BatchLimit { setting, memory, times };

/// Autoregressive decoding over a draft length, each at its own batch: mean times of whole requests, and of the tokens
/// after the first. With a fixed number of clients the first is the ratio of throughputs too [Little1961].
struct LoadSpeedup {
  double request, decode;
};

/// One draft length under the load; gamma 0: no speculation, on a server that holds no draft model.
struct AtLoad {
  std::int64_t gamma = 0;
  std::vector<GammaRange> schedule = {};  ///< not empty: this schedule, and gamma is its longest
  double tokens = 1.0;                    ///< per iteration
  std::int64_t max_batch = 0;             ///< 0: it does not fit into memory, and nothing below is known
  BatchLimit limit = BatchLimit::setting;
  analytic::LoadEquilibrium equilibrium = {};  ///< closed form
  bool beyond_graphs = false;                  ///< its passes are larger than the largest captured one
  std::optional<double> memory_bytes = {};     ///< of the fullest device, at the mean number of requests in the batch
  std::optional<Estimates> served = {};        ///< simulated; nothing where the server is overloaded
  std::optional<bool> meets_objective = {};    ///< nothing without an objective
  std::optional<LoadSpeedup> speedup = {};     ///< closed form; nothing where this or decoding alone is overloaded
  /// What the errors of times and engine leave open of it; nothing at gamma 0 and for times whose error is not known.
  /// 0: the server may be overloaded.
  std::optional<Interval> request_interval = {}, decode_interval = {};
  /// Requests a second and GPU that meet the objective; without one, those that a full batch keeps up with.
  double requests_per_s_per_gpu = 0.0;
  std::optional<double> cost_per_million = {};  ///< output tokens under the asked load, in the currency of the price
  [[nodiscard]] bool answers() const { return max_batch > 0 && !equilibrium.overloaded; }
};

struct LoadPrediction {
  LoadQuestion question;
  latency::Engine engine;      ///< that gave the answer
  ProfilePrediction decoding;  ///< one sequence at the prompt's context: what the answer rests on
  Evidence evidence;
  std::int64_t gpus = 1;
  std::vector<AtLoad> lengths = {};                  ///< gamma 0, 1, ...
  std::optional<AtLoad> scheduled = {};              ///< the asked schedule
  std::optional<std::int64_t> best_latency = {};     ///< least mean request time; nothing: overloaded with every gamma
  std::optional<std::int64_t> best_throughput = {};  ///< most requests a GPU, which is the least cost too
  /// Tokens per second of one budget of tokens for the batch (analytic/draft_length/token_budget) over those of the
  /// best draft length, at its batch; 1: every request has the same chances. Nothing: not known of this acceptance.
  std::optional<double> adaptive_gain = {};

  [[nodiscard]] const AtLoad& plain() const { return lengths.front(); }
  [[nodiscard]] const AtLoad& at(std::int64_t gamma) const { return lengths[static_cast<std::size_t>(gamma)]; }
  /// The asked draft length, else the best for latency; null where neither is known.
  [[nodiscard]] const AtLoad* shown() const;
};

/// The draft length that the verdict is about: the asked one, if above 0, else the best for latency, else that with the
/// least request time among gamma 1, 2, ...; null where it does not answer.
[[nodiscard]] const AtLoad* judged(const LoadPrediction& prediction);

/// Whether that draft length is known to pay: the interval of its speedup of whole requests lies above 1, reaches 1, or
/// lies below.
[[nodiscard]] Payoff payoff_of(const LoadPrediction& prediction);

/// `progress` gets the finished share. Throws DomainError where the times cannot answer, Interrupted when stopped.
[[nodiscard]] LoadPrediction predict_load(const LoadQuestion& question, const latency::Profile& profile,
                                          StopToken stop = {}, const std::function<void(double share)>& progress = {});

/// The same load at other numbers of clients, or rates, by closed form: for figures. In ascending order.
[[nodiscard]] std::vector<LoadPrediction> predict_loads(const LoadQuestion& question, const latency::Profile& profile,
                                                        StopToken stop = {});

/// Schema foredraft.predict.load/1: docs/schemas/predict.load.schema.json.
[[nodiscard]] nlohmann::ordered_json to_json(const LoadPrediction& prediction);

}  // namespace foredraft::answers
