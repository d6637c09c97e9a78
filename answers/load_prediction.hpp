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
#include "latency/surfaces/pair_surface.hpp"

/// What `foredraft predict --request-rate` answers: a server at a request rate with and without speculation.
/// Speculation answers requests sooner, so that fewer are in flight at the same rate: each draft length is asked at its
/// own batch.
namespace foredraft::answers {

/// What a server must keep for 99 % of the requests; nothing: no such limit.
struct Objective {
  std::optional<double> ttft_ms = {};
  std::optional<double> tpot_ms = {};
  [[nodiscard]] bool any() const { return ttft_ms || tpot_ms; }
};

/// Poisson arrivals at one server, which may span several GPUs.
struct LoadQuestion {
  ProfileQuestion pair;            ///< its batches and contexts are not looked at: they follow from the load
  std::string source;              ///< of the times, for messages
  double requests_per_s = 0.0;     ///< > 0
  std::int64_t prompt_tokens = 0;  ///< >= 1
  std::int64_t output_tokens = 2;  ///< >= 2
  Objective objective = {};
  std::optional<double> gpu_hour_price = {};         ///< of one GPU, in any currency
  std::int64_t max_batch = 256;                      ///< of the engine's settings, at most 65,536
  std::optional<latency::PromptSheet> prompts = {};  ///< of profiles whose steps time no prompts
};

/// What the largest batch follows from.
enum class BatchLimit { setting, memory, times };

/// Mean times of autoregressive decoding over those of a draft length, each at its own batch: of whole requests, and of
/// the tokens after the first.
struct LoadSpeedup {
  double request, decode;
};

/// One draft length at the rate; gamma 0: no speculation, on a server that holds no draft model.
struct AtRate {
  std::int64_t gamma = 0;
  double tokens = 1.0;         ///< per iteration
  std::int64_t max_batch = 0;  ///< 0: it does not fit into memory, and nothing below is known
  BatchLimit limit = BatchLimit::setting;
  analytic::LoadEquilibrium equilibrium = {};  ///< closed form
  std::optional<Estimates> served = {};        ///< simulated; nothing where the server is overloaded
  std::optional<bool> meets_objective = {};    ///< nothing without an objective
  std::optional<LoadSpeedup> speedup = {};     ///< nothing where this or autoregressive decoding is overloaded
  /// What the error of the times leaves open of it; nothing at gamma 0 and for times whose error is not known. 0: the
  /// server may be overloaded.
  std::optional<Interval> request_interval = {}, decode_interval = {};
  /// Requests a second and GPU that meet the objective; without one, those that a full batch keeps up with.
  double requests_per_s_per_gpu = 0.0;
  std::optional<double> cost_per_million = {};  ///< output tokens at that rate, in the currency of the price
  [[nodiscard]] bool answers() const { return served.has_value(); }
};

struct LoadPrediction {
  LoadQuestion question;
  ProfilePrediction decoding;  ///< one sequence at the prompt's context: what the answer rests on
  Evidence evidence;
  std::int64_t gpus = 1;
  std::vector<AtRate> lengths = {};                  ///< gamma 0, 1, ...
  std::optional<std::int64_t> best_latency = {};     ///< least mean request time; nothing: overloaded with every gamma
  std::optional<std::int64_t> best_throughput = {};  ///< most requests a GPU, which is the least cost too

  [[nodiscard]] const AtRate& plain() const { return lengths.front(); }
  [[nodiscard]] const AtRate& at(std::int64_t gamma) const { return lengths[static_cast<std::size_t>(gamma)]; }
  /// The asked draft length, else the best for latency; null where neither is known.
  [[nodiscard]] const AtRate* shown() const;
};

/// `progress` gets the finished share. Throws DomainError where the times cannot answer, Interrupted when stopped.
[[nodiscard]] LoadPrediction predict_load(const LoadQuestion& question, const latency::Profile& profile,
                                          StopToken stop = {}, const std::function<void(double share)>& progress = {});

/// Schema foredraft.predict.load/1: docs/schemas/predict.load.schema.json.
[[nodiscard]] nlohmann::ordered_json to_json(const LoadPrediction& prediction);

}  // namespace foredraft::answers
