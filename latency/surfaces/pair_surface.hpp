// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/intervals.hpp"
#include "foredraft/drafter.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/profile/cell.hpp"
#include "latency/surfaces/cost_surface.hpp"
#include "latency/surfaces/memory_fit.hpp"
#include "latency/surfaces/step_model.hpp"
#include "latency/surfaces/verification_surface.hpp"
#include "scenario/cost.hpp"

/// Names of drafters with timed passes, on the command line and in files.
namespace foredraft::latency {

/// "autoregressive", "block", "heads".
[[nodiscard]] const std::vector<std::string>& drafter_words();

/// nullopt for other words.
[[nodiscard]] std::optional<Role> role_of_drafter(std::string_view word);

/// Throws DomainError for a drafter whose forward passes cannot be timed.
[[nodiscard]] Role drafting_role(const Drafter& drafter);

/// The actual role of a requested one: a block head and a drafter on the host draft all tokens at once even if
/// autoregressive drafting is requested.
[[nodiscard]] Role drafting_role(Role asked, const ModelShape* draft, bool host);

/// The drafter's name for one of the three drafting roles.
[[nodiscard]] std::string_view drafter_word(Role drafting);

/// Settings of a data sheet for a pair; not used for other profiles.
struct SheetPair {
  Deployment target = {.weights = NumberFormat::fp16, .kv_cache = NumberFormat::fp16};
  Deployment draft = {.weights = NumberFormat::fp16, .kv_cache = NumberFormat::fp16};
  /// Attained fractions of the limits; empty: times are lower bounds from the limits.
  std::optional<Attainable> attainable = {};
};

/// Overheads and attained fractions of the limits: for a data sheet, and for a profile of operators (overheads beyond
/// the operators); empty if whole steps were measured.
[[nodiscard]] std::optional<Attainable> attainable_of(const Profile& profile);

/// The data sheet for prefill passes, for a profile without such steps.
struct PromptSheet {
  Profile profile;
  SheetPair sheet;
};

/// A drafter without a model that looks up drafts on the host: n-gram lookup, suffix decoding.
struct HostDrafter {
  double request_us = 0.0;        ///< time per request and iteration
  double context_token_us = 0.0;  ///< additional time per context token that is searched
};

/// One thread of vLLM's n-gram drafter searches 66.3 M tokens in 70.3 ms (vllm-project/vllm#56732). For a suffix tree,
/// which does not search the context, this is an upper bound.
[[nodiscard]] inline HostDrafter default_host_drafter() { return {.context_token_us = 1.06e-3}; }

/// Models, data-sheet settings and limits.
struct TimedPair {
  std::string target, draft;
  std::vector<ModelShape> models;  ///< known in addition to the profile's steps
  SheetPair sheet = {};
  /// Fraction of a device's memory for weights and caches. Passes that do not fit throw; empty: not checked.
  std::optional<double> memory_utilization = {};
  std::optional<PromptSheet> prompts = {};  ///< empty: the profile has times of prompts
  std::optional<HostDrafter> host = {};     ///< instead of a draft model
};

/// Times of an iteration of speculation and of a decode step without it, at one batch size and context length.
struct IterationTimes {
  Latency plain;     ///< one decode step of the target
  Latency verify;    ///< the target's forward pass over the drafts
  Latency drafting;  ///< all drafts
  /// Empty: unknown or not part of the iteration; not charged.
  std::optional<Latency> catch_up = {}, sampling = {}, plain_sampling = {};
  double overhead_us = 0.0;  ///< additional overhead of an engine; 0 if the times were measured
};

/// The time, or 0 if unknown.
[[nodiscard]] double charged_us(const std::optional<Latency>& latency);

/// Times of a target and its drafter.
class PairSurface {
 public:
  /// `drafting`: one of the three drafting roles; heads are part of the target. Throws DomainError as CostSurface, and
  /// for a block head (HeadInputs::block_size) in another role.
  PairSurface(const Profile& profile, const std::vector<ModelShape>& shapes, const std::string& target,
              const std::string& drafter, Role drafting, const SheetPair& sheet = {},
              const std::optional<HostDrafter>& host = {});
  PairSurface(const Profile& profile, const TimedPair& pair, Role drafting)
      : PairSurface(profile, pair.models, pair.target, pair.draft, drafting, pair.sheet, pair.host) {}

  /// All times of an iteration, gamma >= 1, from the functions below.
  [[nodiscard]] IterationTimes iteration(std::int64_t gamma, std::int64_t batch, std::int64_t context,
                                         Convention convention) const;

  /// One forward pass of the target over `tokens` new tokens of each sequence: 1 in a decode step, gamma + 1 to verify
  /// with a bonus token. `prompt`: prefill (ForwardPassPoint::prompt).
  [[nodiscard]] Latency target_pass(std::int64_t tokens, std::int64_t batch, std::int64_t context,
                                    bool prompt = false) const;

  /// A target pass that also prefills a prompt (CostSurface::mixed_at).
  [[nodiscard]] Latency mixed_pass(const ForwardPassPoint& decoding, const ForwardPassPoint& prompt) const {
    return target_.mixed_at(decoding, prompt);
  }

  /// Uncertainty of a data sheet's verification time due to expert routing and vector units: range of the true t(n) /
  /// t(1) divided by that of target_pass(). {1, 1} for other times, and if the deployment states the routing or the
  /// model has neither.
  [[nodiscard]] Interval verification_range(std::int64_t tokens, std::int64_t batch, std::int64_t context) const;

  /// All drafts of an iteration, gamma >= 1. For an autoregressive drafter without measured drafting, gamma passes.
  [[nodiscard]] Latency drafting(std::int64_t gamma, std::int64_t batch, std::int64_t context) const;

  /// The parts of the drafting time; nullopt unless it is from a data sheet.
  [[nodiscard]] std::optional<PassParts> drafting_parts(std::int64_t gamma, std::int64_t batch,
                                                        std::int64_t context) const;

  /// Time of the drafter's catch-up pass (EngineLoop::draft_catch_up); nullopt if the profile states none, or the
  /// drafter is not autoregressive. The pass follows the target's, so the drafter's weights are not cached. If a draft
  /// in the loop takes longer than a separate pass, this pass does too, minus the part that computing hides.
  [[nodiscard]] std::optional<Latency> catch_up(std::int64_t gamma, std::int64_t batch, std::int64_t context) const;

  /// Sampling time of an iteration: drawing the drafts, one by one or all at once, and verifying them. nullopt if the
  /// profile has none (VerificationSurface).
  [[nodiscard]] std::optional<Latency> sampling(std::int64_t gamma, std::int64_t batch) const;

  /// Sampling time of one token per sequence without speculation; nullopt if the profile has none.
  [[nodiscard]] std::optional<Latency> plain_sampling(std::int64_t batch) const;

  /// Prefill pass of an autoregressive drafter over `tokens` tokens of each sequence, or of a block head over their
  /// hidden states. Throws DomainError for other drafters.
  [[nodiscard]] Latency drafter_pass(std::int64_t tokens, std::int64_t batch, std::int64_t context,
                                     bool prompt = false) const;
  [[nodiscard]] bool has_drafter_pass() const { return drafter_pass_.has_value(); }

  [[nodiscard]] const Setting& setting() const { return target_.kind().setting; }

  /// Where the profile has times of the target: "batch 1, 4; tokens 1 to 9; context 0, 512"; if there are none, what it
  /// has of other models.
  [[nodiscard]] const std::string& covered() const { return target_.covered(); }

  /// CostSurface::computed_in_others() of all passes.
  [[nodiscard]] std::map<NumberFormat, NumberFormat> computed_in_others() const;

  /// IterationTimes::overhead_us.
  [[nodiscard]] double overhead_us() const { return overhead_us_; }

 private:
  /// Time of sequential sampling on the host. Requires EngineLoop::draw_us.
  [[nodiscard]] Latency draws(std::int64_t positions, std::int64_t batch) const;

  bool one_by_one_;
  double overhead_us_;  ///< of an iteration
  CostSurface target_;
  /// the target with the fastest and the slowest verification, if they differ
  std::optional<std::pair<CostSurface, CostSurface>> bounds_;
  std::optional<CostSurface> drafting_;
  /// for a block head, and for an autoregressive drafter unless only its drafting is known
  std::optional<CostSurface> drafter_pass_;
  std::optional<VerificationSurface> sampling_;
  std::optional<EngineLoop> loop_;
  std::optional<HostDrafter> host_;
};

/// The deployed models of a pair: for a data sheet as requested by the pair, for a profile with only whole steps as it
/// states, else in the measured format on one device. nullopt if deployment or shape is unknown, and for an
/// encoder-decoder.
[[nodiscard]] std::optional<DeployedModels> deployed_models(const Profile& profile, const TimedPair& pair,
                                                            Role drafting);

/// Memory limit of these models if weights, caches and activations may use the fraction `utilization` of a device's
/// memory. nullopt as deployed_models, and if the device's memory is unknown.
[[nodiscard]] std::optional<MemoryLimit> memory_limit(const Profile& profile, const TimedPair& pair, Role drafting,
                                                      double utilization);

// ---- Times of the forward passes of a scenario.

/// Times of the passes of a target and its drafter from a profile. `name`: profile in messages. Throws DomainError for
/// models and drafters without times; the functions of the result also throw it for passes that do not fit into memory.
[[nodiscard]] std::shared_ptr<const ForwardPassTimes> surface_times(const Profile& profile, const std::string& name,
                                                                    const TimedPair& pair, const Drafter& drafter);

}  // namespace foredraft::latency
