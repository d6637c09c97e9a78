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

/// The answer to `foredraft predict` from the times of a device: the draft length to use for each batch size and
/// context length, its speedup, and where speculation stops paying.
namespace foredraft::answers {

struct ProfileQuestion {
  std::string target, draft;
  latency::Role drafting = latency::Role::autoregressive_drafting;
  AcceptanceProcess acceptance = Iid{};  ///< with a closed form; a Positional has `marginal`
  std::optional<double> acceptance_length = {}, accepted_over_drafted = {};
  Convention convention = Convention::bonus;
  std::optional<std::int64_t> gamma = {};   ///< to show, and the longest to evaluate; empty: the best one
  std::vector<std::int64_t> batches = {1};  ///< ascending
  std::vector<std::int64_t> contexts = {512};
  double overhead_us = 0.0;                    ///< of an iteration, besides its forward passes
  std::optional<std::int64_t> max_gamma = {};  ///< overrides the longest draft to evaluate
  /// Models that target and draft may name, besides those with steps in the profile.
  std::vector<latency::ModelShape> models = latency::model_registry();
  latency::Deployment target_deployment = latency::SheetPair{}.target, draft_deployment = latency::SheetPair{}.draft;
  std::optional<latency::HostDrafter> host = {};  ///< instead of a draft model
  bool floor = false;                             ///< for a data sheet: its limits instead of what engines attain
  latency::AttainableOverrides attained = {};
  /// Fraction of a device's memory for weights, KV caches and activations.
  double memory_utilization = latency::default_memory_utilization;
  bool ignore_memory = false;  ///< answer even if it does not fit
};

/// One draft length at one batch size and context length.
struct AtDraftLength {
  std::int64_t gamma = 0;
  latency::IterationTimes times;
  analytic::MeasuredIteration iteration{};  ///< in us
  double tokens = 0.0;                      ///< per iteration
  double speedup = 0.0;
  std::optional<double> spread = {};  ///< relative half width of `interval`; empty if a time has no error
  /// The 95 % interval. For data sheets and operators, the interval from the ranges of latency/attainable, which cover
  /// 90 % of the measurements that they were tested on (Evidence::interval_level).
  std::optional<Interval> interval = {};
  std::optional<double> floor_speedup = {};  ///< for a data sheet: with every time at its lower bound
  /// For data sheets and operators, a range of the true growth of verification time divided by that in `times`: from
  /// the ranges of latency/attainable for all models, widened by routing and vector units of this model.
  Interval verification_range = {1.0, 1.0};
};

struct AtBatch {
  std::int64_t batch = 0, context = 0;
  latency::Latency plain, one_draft;
  std::optional<latency::Latency> plain_sampling = {};  ///< of the token after a decode step; empty: unknown
  std::vector<AtDraftLength> lengths = {};              ///< gamma 1, 2, ...
  std::int64_t use = 0;                       ///< the smallest gamma within 1 % of the best; 0: no speculation
  std::optional<double> floor_plain_us = {};  ///< for a data sheet: the lower bound of a decode step
  /// Memory needed on the fullest device, and the maximum batch size that fits. Empty if shapes or memory are unknown.
  std::optional<latency::MemoryNeed> need = {};
  std::optional<std::int64_t> max_batch = {};
  [[nodiscard]] bool fits() const { return !max_batch || batch <= *max_batch; }
  /// `gamma` >= 1.
  [[nodiscard]] const AtDraftLength& at(std::int64_t gamma) const {
    return lengths[static_cast<std::size_t>(gamma) - 1];
  }
};

/// A model of a prediction.
struct ModelFacts {
  latency::ModelShape shape;
  double parameters, active_parameters, weight_bytes, step_bytes, kv_bytes_per_token;
  latency::Deployment deployment;
};

/// How the time of drafting in an iteration is spent.
struct DraftStep {
  std::int64_t batch = 1, context = 0, gamma = 1;
  latency::PassParts parts = {};  ///< summed over its forward passes
};

struct ProfilePrediction {
  ProfileQuestion question;
  std::string device;
  latency::Source source = latency::Source::measured;
  latency::Setting setting = {};
  std::string covered = {};         ///< the range in which the profile has times (PairSurface::covered)
  bool valid = true;                ///< false: the profile failed its A/A test
  std::vector<AtBatch> cells = {};  ///< all batch sizes of the first context length, then of the next
  /// One for each context length, from the first batch size to the last one or to the maximum that fits.
  std::vector<std::vector<GammaRange>> schedules = {};
  std::optional<latency::Attainable> attainable = {};  ///< fractions used for data sheets and operators
  latency::Figure step_error = {};                     ///< of every step, as stated in the profile
  std::optional<double> capacity_bytes = {};           ///< of one device, times the utilization; empty: unknown
  std::optional<ModelFacts> target = {}, draft = {};   ///< empty: only times of the model are known
  std::vector<std::string> notes = {};                 ///< assumptions of the times

  /// At the first batch size and context length, for the draft length of the question, else for the one to use, else
  /// for one draft. Empty unless the times are those of a data sheet.
  std::optional<DraftStep> draft_step = {};

  /// False: sampling takes no time in the prediction.
  [[nodiscard]] bool sampling_known() const { return cells.front().plain_sampling.has_value(); }
  [[nodiscard]] bool advises(const AtBatch& at) const { return at.fits() || question.ignore_memory; }
};

/// Whether the interval of the best speedup lies above 1, contains 1, or lies below; without intervals, the speedup.
enum class Payoff { pays, within_error, does_not_pay };
[[nodiscard]] Payoff payoff_of(const AtBatch& at);

/// The maximum draft length to evaluate, at least 1: as stated, else the entries of the acceptance vector, else 8.
[[nodiscard]] std::int64_t max_drafts(const ProfileQuestion& question);

/// Fractions of a device's limits that engines attain, with the overrides of the question. nullopt for lower bounds and
/// for measured times.
[[nodiscard]] std::optional<latency::Attainable> attainable_of(const ProfileQuestion& question,
                                                               const latency::Profile& profile);

/// "fp8 products are computed in bf16 (no matrix peak of fp8 is known of NVIDIA A100 SXM4 80GB)": a line for each
/// format that the device of a data sheet computes in another format (latency::computed_in).
[[nodiscard]] std::vector<std::string> format_notes(const latency::PairSurface& pair, const std::string& device);

/// The models of a question and, for a data sheet, how they run.
[[nodiscard]] latency::TimedPair timed_pair_of(const ProfileQuestion& question, const latency::Profile& profile);

/// The prediction at all batch sizes and context lengths. For a table of steps the search ends where the table ends,
/// which the returned question states (max_gamma). Throws DomainError if the profile cannot answer, for an unknown
/// model, and for impossible times.
[[nodiscard]] ProfilePrediction predict(const ProfileQuestion& asked, const latency::Profile& profile);

/// The draft length of the question, else the one to use; null for autoregressive decoding.
[[nodiscard]] const AtDraftLength* shown_length(const ProfileQuestion& question, const AtBatch& at);

/// The acceptance of a question; for Positional with the conditionals computed from the marginals.
[[nodiscard]] AcceptanceProcess acceptance_of(const ProfileQuestion& question);

/// Distribution of the tokens of an iteration, in steady state.
[[nodiscard]] analytic::IterationDistribution acceptance_distribution(const ProfileQuestion& question,
                                                                      std::int64_t gamma);

/// Adds the acceptance of a question, as add_stated_acceptance().
void add_acceptance(const ProfileQuestion& question, nlohmann::ordered_json& json);

/// Schema foredraft.predict/1: the fields of the first batch size and context length, then `cells` with those of all
/// predictions. The predictions differ only in alpha; if there are several, each cell states its alpha.
[[nodiscard]] nlohmann::ordered_json to_json(std::span<const ProfilePrediction> predictions);

// ---- The kind of times that a prediction uses, and the errors of such times.

struct Evidence {
  std::string_view name;   ///< "measured here", "engine", "operators" or "data sheet"
  std::string_view what;   ///< in sentences: "operators measured in engines"
  std::string error = {};  ///< known error of such times, in words; docs/step-times.md
  /// Coverage of the intervals of predicted times and speedups: 0.90 for estimates, 0.95 for measured times. Empty: no
  /// intervals.
  std::optional<double> interval_level = {};
  /// Relative standard deviation of the ratio of two predicted times: from the range of verification times, else from
  /// the widest interval of a speedup. Empty: unknown.
  std::optional<double> ratio_error = {};
};

[[nodiscard]] Evidence evidence_of(const ProfilePrediction& prediction);

}  // namespace foredraft::answers
