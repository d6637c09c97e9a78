// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytic/answer/iteration_distribution.hpp"
#include "analytic/cost/iteration_cost.hpp"
#include "core/intervals.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/server.hpp"
#include "foredraft/words.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/surfaces/memory_fit.hpp"
#include "latency/surfaces/pair_surface.hpp"

/// What `foredraft predict` answers from the times of a device: for each batch and context which draft length to use,
/// what it yields, and where speculation stops paying.
namespace foredraft::answers {

struct ProfileQuestion {
  std::string target, draft;
  latency::Role drafting = latency::Role::autoregressive_drafting;
  AcceptanceProcess acceptance = Iid{};  ///< one with a closed form; of Positional its `marginal`
  std::optional<double> acceptance_length = {}, accepted_over_drafted = {};
  Convention convention = Convention::bonus;
  std::optional<std::int64_t> gamma = {};   ///< the longest draft that is looked at; nothing: max_drafts() says
  std::vector<std::int64_t> batches = {1};  ///< ascending
  std::vector<std::int64_t> contexts = {512};
  double overhead_us = 0.0;                    ///< of an iteration, beyond its passes
  std::optional<std::int64_t> max_gamma = {};  ///< likewise, of callers that answer at no gamma
  /// Where target and draft are found besides the profile's steps.
  std::vector<latency::ModelShape> models = latency::model_registry();
  latency::Deployment target_deployment = latency::SheetPair{}.target, draft_deployment = latency::SheetPair{}.draft;
  std::optional<latency::HostDrafter> host = {};  ///< in place of a draft model
  bool floor = false;                             ///< of a data sheet: its limits instead of what engines reach
  latency::AttainableOverrides attained = {};
  /// Share of a device's memory that weights, caches and activations may take.
  double memory_utilization = latency::default_memory_utilization;
  bool ignore_memory = false;  ///< answer also where it does not fit
};

/// One draft length at one batch and context.
struct AtDraftLength {
  std::int64_t gamma = 0;
  latency::IterationTimes times;
  analytic::MeasuredIteration iteration{};  ///< in us
  double tokens = 0.0;                      ///< per iteration
  double speedup = 0.0;
  std::optional<double> spread = {};  ///< half width of `interval` over it; nothing where a time has none
  /// The 95 % interval; of data sheets and operators what the ranges of latency/attainable leave open, which hold 90 %
  /// of what they were judged on (Evidence::interval_level).
  std::optional<Interval> interval = {};
  std::optional<double> floor_speedup = {};  ///< of a data sheet: with every time at its floor
  /// Of data sheets and operators: the verification's true growth over that of `times` lies in it, by the ranges of
  /// latency/attainable: of all models, and on top of it what routing and vector units leave open of this one.
  Interval verification_range = {1.0, 1.0};
};

struct AtBatch {
  std::int64_t batch = 0, context = 0;
  latency::Latency plain, one_draft;
  std::optional<latency::Latency> plain_sampling = {};  ///< of the token after a decode step; empty: not known
  std::vector<AtDraftLength> lengths = {};              ///< gamma 1, 2, ...
  std::int64_t use = 0;                                 ///< smallest gamma within 1 % of the best; 0: no speculation
  std::optional<double> floor_plain_us = {};            ///< of a data sheet: the lower bound of a decode step
  /// What the fullest device needs, and the largest batch that fits; nothing where shapes or memory are not known.
  std::optional<latency::MemoryNeed> need = {};
  std::optional<std::int64_t> max_batch = {};
  [[nodiscard]] bool fits() const { return !max_batch || batch <= *max_batch; }
  /// `gamma` >= 1.
  [[nodiscard]] const AtDraftLength& at(std::int64_t gamma) const {
    return lengths[static_cast<std::size_t>(gamma) - 1];
  }
};

/// What is known of a model of a prediction.
struct ModelFacts {
  latency::ModelShape shape;
  double parameters, active_parameters, weight_bytes, step_bytes, kv_bytes_per_token;
  latency::Deployment deployment;
};

/// What the drafting of an iteration is spent on.
struct DraftStep {
  std::int64_t batch = 1, context = 0, gamma = 1;
  latency::PassParts parts = {};  ///< of all its passes
};

struct ProfilePrediction {
  ProfileQuestion question;
  std::string device;
  latency::Source source = latency::Source::measured;
  latency::Setting setting = {};
  std::string covered = {};         ///< where the profile has times (PairSurface::covered)
  bool valid = true;                ///< false: the profile's A/A run says that it is not
  std::vector<AtBatch> cells = {};  ///< every batch of the first context, then of the next
  /// One a context: every batch from the first to the last, or to the largest that fits.
  std::vector<std::vector<GammaRange>> schedules = {};
  std::optional<latency::Attainable> attainable = {};  ///< of data sheets and operators: what they were answered with
  latency::Figure step_error = {};                     ///< of every step, as the profile states it
  std::optional<double> capacity_bytes = {};           ///< of one device, times the utilization; nothing: not known
  std::optional<ModelFacts> target = {}, draft = {};   ///< nothing: a model of which only times are known
  std::vector<std::string> notes = {};                 ///< what the times take for granted

  /// At the first batch and context, of the asked, else of the used draft length, else of one draft; nothing where the
  /// times are no data sheet's.
  std::optional<DraftStep> draft_step = {};

  /// False: nothing is charged for sampling.
  [[nodiscard]] bool sampling_known() const { return cells.front().plain_sampling.has_value(); }
  [[nodiscard]] bool advises(const AtBatch& at) const { return at.fits() || question.ignore_memory; }
};

/// Whether the speedup of the best draft length is known to be above 1 or below it.
enum class Payoff { pays, within_error, does_not_pay };
[[nodiscard]] Payoff payoff_of(const AtBatch& at);

/// The maximum draft length that is evaluated: where it is not stated, the entries of the vector, else 8.
[[nodiscard]] std::int64_t max_drafts(const ProfileQuestion& question);

/// What engines reach of a device, with what the question states better; nothing for the floor and for measured times.
[[nodiscard]] std::optional<latency::Attainable> attainable_of(const ProfileQuestion& question,
                                                               const latency::Profile& profile);

/// "fp8 products are computed in bf16 (no matrix peak of fp8 is known of NVIDIA A100 SXM4 80GB)": a line for each
/// format that the device of a data sheet computes in another (latency::computed_in).
[[nodiscard]] std::vector<std::string> format_notes(const latency::PairSurface& pair, const std::string& device);

/// What a question is answered from: its models, and of a data sheet how they run.
[[nodiscard]] latency::TimedPair timed_pair_of(const ProfileQuestion& question, const latency::Profile& profile);

/// Of a table of steps the search ends where the table does, which the question of the prediction says (max_gamma).
/// Throws DomainError where the profile cannot answer, for an unknown model, and for times that cannot be.
[[nodiscard]] ProfilePrediction predict(const ProfileQuestion& asked, const latency::Profile& profile);

/// Where an iteration of the asked, else of the used draft length stands; null for autoregressive decoding.
[[nodiscard]] const AtDraftLength* shown_length(const ProfileQuestion& question, const AtBatch& at);

/// Of acceptance by position with the conditionals that follow from the marginals.
[[nodiscard]] AcceptanceProcess acceptance_of(const ProfileQuestion& question);

/// Tokens of an iteration in the long run.
[[nodiscard]] analytic::IterationDistribution acceptance_distribution(const ProfileQuestion& question,
                                                                      std::int64_t gamma);

/// The acceptance of a question, as add_stated_acceptance().
void add_acceptance(const ProfileQuestion& question, nlohmann::ordered_json& json);

/// Schema foredraft.predict/1: the fields of every prediction, of the first batch and context, then `cells`: those of
/// all predictions, which differ in alpha alone, each with its alpha where there are several.
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const ProfilePrediction> predictions);

// ---- What kind of times a prediction rests on, and how far times of that kind were off.

struct Evidence {
  std::string_view name;   ///< "measured here", "engine", "operators" or "data sheet"
  std::string_view what;   ///< of it, for sentences: "operators measured in engines"
  std::string error = {};  ///< the error seen for such times, in words; docs/step-times.md
  /// What the intervals of predicted times and speedups hold: 0.90 of what estimates were judged on, 0.95 of measured
  /// times; nothing: there are none.
  std::optional<double> interval_level = {};
  /// One standard deviation of the ratio of two predicted times, over that ratio: what the range of verifications
  /// leaves open, else the widest interval of a speedup; nothing: not known.
  std::optional<double> ratio_error = {};
};

[[nodiscard]] Evidence evidence_of(const ProfilePrediction& prediction);

}  // namespace foredraft::answers
