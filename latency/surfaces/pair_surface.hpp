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

/// The name of a drafter on the command line and in files whose times are those of a device.
namespace foredraft::latency {

/// "autoregressive", "block", "heads".
[[nodiscard]] const std::vector<std::string>& drafter_words();

/// Nullopt for other words.
[[nodiscard]] std::optional<Role> role_of_drafter(std::string_view word);

/// Throws DomainError for a drafter whose forward passes cannot be timed.
[[nodiscard]] Role drafting_role(const Drafter& drafter);

/// The role in which a draft that is asked to be autoregressive drafts: a head that fills a block and a drafter on the
/// host do so at once.
[[nodiscard]] Role drafting_role(Role asked, const ModelShape* draft, bool host);

/// The name of the drafter of one of the three drafting roles.
[[nodiscard]] std::string_view drafter_word(Role drafting);

/// Settings of a data sheet for a pair; not used for other profiles.
struct SheetPair {
  Deployment target = {.weights = NumberFormat::fp16, .kv_cache = NumberFormat::fp16};
  Deployment draft = {.weights = NumberFormat::fp16, .kv_cache = NumberFormat::fp16};
  /// Reached fractions of the limits; empty: lower bound from the limits.
  std::optional<Attainable> attainable = {};
};

/// Overhead and reached fractions of the limits: of engines for a data sheet, and beyond the measured operators for a
/// profile of operators; empty if whole steps were measured.
[[nodiscard]] std::optional<Attainable> attainable_of(const Profile& profile);

/// The data sheet used for prefill passes, for a profile whose steps do not include any.
struct PromptSheet {
  Profile profile;
  SheetPair sheet;
};

/// A drafter without a model, which looks up its drafts on the host: n-grams of the text, suffixes of earlier texts.
struct HostDrafter {
  double request_us = 0.0;        ///< of an iteration of one request
  double context_token_us = 0.0;  ///< and of each token of its context that is searched
};

/// One thread of vLLM's n-gram drafter searches 66.3 M tokens in 70.3 ms (vllm-project/vllm#56732). A suffix tree does
/// not search the context: an upper bound.
[[nodiscard]] inline HostDrafter default_host_drafter() { return {.context_token_us = 1.06e-3}; }

/// Models, data-sheet settings and limits.
struct TimedPair {
  std::string target, draft;
  std::vector<ModelShape> models;  ///< searched in addition to the profile's steps
  SheetPair sheet = {};
  /// Memory limit of a device, for weights and caches: passes that do not fit throw; empty: not checked.
  std::optional<double> memory_utilization = {};
  std::optional<PromptSheet> prompts = {};  ///< empty: the profile times prompts as well
  std::optional<HostDrafter> host = {};     ///< in place of a draft model
};

/// Times of one iteration of speculation, and of the decode step that it replaces, at one batch size and context.
struct IterationTimes {
  Latency plain;     ///< one decode step of the target
  Latency verify;    ///< the target's forward pass over the drafts
  Latency drafting;  ///< all drafts
  /// Empty: not known, or not part of this iteration, and not charged.
  std::optional<Latency> catch_up = {}, sampling = {}, plain_sampling = {};
  double overhead_us = 0.0;  ///< of an engine beyond these; 0 if the times were measured
};

/// The time of what is charged; 0 for what is not known.
[[nodiscard]] double charged_us(const std::optional<Latency>& latency);

/// Times of a target and its drafter.
class PairSurface {
 public:
  /// `drafting`: one of the three drafting roles; heads are part of the target. Throws DomainError as CostSurface, and
  /// for a head that fills a block (HeadInputs::block_size) in another role.
  PairSurface(const Profile& profile, const std::vector<ModelShape>& shapes, const std::string& target,
              const std::string& drafter, Role drafting, const SheetPair& sheet = {},
              const std::optional<HostDrafter>& host = {});
  PairSurface(const Profile& profile, const TimedPair& pair, Role drafting)
      : PairSurface(profile, pair.models, pair.target, pair.draft, drafting, pair.sheet, pair.host) {}

  /// Every time of an iteration, gamma >= 1, by the functions below.
  [[nodiscard]] IterationTimes iteration(std::int64_t gamma, std::int64_t batch, std::int64_t context,
                                         Convention convention) const;

  /// One forward pass of the target over `tokens` new tokens of each sequence: 1 in a decode step, gamma + 1 to verify
  /// with a bonus token. `prompt`: prefill (ForwardPassPoint::prompt).
  [[nodiscard]] Latency target_pass(std::int64_t tokens, std::int64_t batch, std::int64_t context,
                                    bool prompt = false) const;

  /// The same pass if it also reads the tokens of a prompt (CostSurface::mixed_at).
  [[nodiscard]] Latency mixed_pass(const ForwardPassPoint& decoding, const ForwardPassPoint& prompt) const {
    return target_.mixed_at(decoding, prompt);
  }

  /// What the ranges of routing and of vector units leave open of a data sheet's verification over a decode step: true
  /// t(n) / t(1) divided by that of target_pass(); {1, 1} for other times, for routing that the deployment states and
  /// for models without either.
  [[nodiscard]] Interval verification_range(std::int64_t tokens, std::int64_t batch, std::int64_t context) const;

  /// All drafts of an iteration, gamma >= 1. For an autoregressive drafter, if that was not measured, gamma passes.
  [[nodiscard]] Latency drafting(std::int64_t gamma, std::int64_t batch, std::int64_t context) const;

  /// What the time of all drafts is spent on; nullopt unless it is from a data sheet.
  [[nodiscard]] std::optional<PassParts> drafting_parts(std::int64_t gamma, std::int64_t batch,
                                                        std::int64_t context) const;

  /// Tokens that the drafter reads besides its drafts, as in the profile's engine; nullopt if it does not state them,
  /// or for a drafter that is not autoregressive. This pass follows the target's, so its weights are in no cache. If
  /// one draft in the loop takes longer than a pass by itself, so does this one, less what computing hides.
  [[nodiscard]] std::optional<Latency> catch_up(std::int64_t gamma, std::int64_t batch, std::int64_t context) const;

  /// Sampling of an iteration: drawing its drafts, one by one or all at once, and verifying them. Nullopt if the
  /// profile does not have it (VerificationSurface).
  [[nodiscard]] std::optional<Latency> sampling(std::int64_t gamma, std::int64_t batch) const;

  /// Sampling of one token of each sequence without speculation; nullopt likewise.
  [[nodiscard]] std::optional<Latency> plain_sampling(std::int64_t batch) const;

  /// One pass of an autoregressive drafter over `tokens` tokens of each sequence, or of a head that fills a block over
  /// their hidden states: prefill. Throws DomainError for another drafter.
  [[nodiscard]] Latency drafter_pass(std::int64_t tokens, std::int64_t batch, std::int64_t context,
                                     bool prompt = false) const;
  [[nodiscard]] bool has_drafter_pass() const { return drafter_pass_.has_value(); }

  [[nodiscard]] const Setting& setting() const { return target_.kind().setting; }

  /// Where the profile has times of the target: "batch 1, 4; tokens 1 to 9; context 0, 512"; of a profile without any,
  /// what it has of other models.
  [[nodiscard]] const std::string& covered() const { return target_.covered(); }

  /// CostSurface::computed_in_others() of all passes.
  [[nodiscard]] std::map<NumberFormat, NumberFormat> computed_in_others() const;

  /// IterationTimes::overhead_us.
  [[nodiscard]] double overhead_us() const { return overhead_us_; }

 private:
  /// On the host, one after the other; precondition: the engine's loop states the time of one.
  [[nodiscard]] Latency draws(std::int64_t positions, std::int64_t batch) const;

  bool one_by_one_;
  double overhead_us_;  ///< of an iteration
  CostSurface target_;
  /// of the target with the fastest and the slowest verification, where these differ
  std::optional<std::pair<CostSurface, CostSurface>> bounds_;
  std::optional<CostSurface> drafting_;
  /// for an autoregressive drafter, unless only its drafting is known, and for a head that fills a block
  std::optional<CostSurface> drafter_pass_;
  std::optional<VerificationSurface> sampling_;
  std::optional<EngineLoop> loop_;
  std::optional<HostDrafter> host_;
};

/// The models of a pair as their forward passes run: of a data sheet as the pair asks for, of a profile that holds only
/// steps as it states, else in the measured format on one device. Nullopt if that or a shape is not known, and for an
/// encoder-decoder.
[[nodiscard]] std::optional<DeployedModels> deployed_models(const Profile& profile, const TimedPair& pair,
                                                            Role drafting);

/// Memory limit of these models if weights, caches and activations may take this fraction of a device's memory. Nullopt
/// as deployed_models, and if the device's memory is not known.
[[nodiscard]] std::optional<MemoryLimit> memory_limit(const Profile& profile, const TimedPair& pair, Role drafting,
                                                      double utilization);

// ---- Times of the forward passes of a scenario.

/// Times of the passes of a target and its drafter from a profile, called `name` in messages. Throws DomainError for
/// models and drafters that the profile cannot time; its functions also throw it for what does not fit into memory.
[[nodiscard]] std::shared_ptr<const ForwardPassTimes> surface_times(const Profile& profile, const std::string& name,
                                                                    const TimedPair& pair, const Drafter& drafter);

}  // namespace foredraft::latency
