// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/surface_times.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "foredraft/errors.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/surfaces/memory_fit.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/family.hpp"

namespace foredraft::latency {
namespace {

/// Sampling is extrapolated linearly; nullopt if the profile does not have it.
double known_us(const std::optional<Latency>& latency) { return latency ? latency->time_us : 0.0; }

const ModelShape* counted_shape(const TimedPair& pair, const std::string& name) {
  const auto found = std::ranges::find(pair.models, name, &ModelShape::name);
  const bool counted = found != pair.models.end() && found->architecture != Architecture::encoder_decoder;
  return counted ? &*found : nullptr;
}

class SurfaceTimes final : public PassTimes {
 public:
  SurfaceTimes(const Profile& profile, std::string name, const TimedPair& pair, const Drafter& drafter)
      : name_(std::move(name)),
        role_(drafting_role(drafter)),
        charge_(scenario::drafting(drafter)),
        iteration_us_(pair.sheet.attainable ? pair.sheet.attainable->iteration_us.value : 0.0),
        pair_(profile, pair.models, pair.target, pair.draft, role_, pair.sheet),
        prompts_(prompt_surface(pair, role_)),
        verification_(pair.verification),
        memory_(memory_limit(profile, pair, role_)) {}

  [[nodiscard]] std::optional<DecodingCost> cost(const LookedUpTimes& asked, std::int64_t gamma,
                                                 Convention convention) const override {
    const std::int64_t verified = std::max<std::int64_t>(1, max_tokens(gamma, convention));
    if (memory_ && !memory_->fits(asked.batch, verified, asked.context)) return std::nullopt;
    if (gamma == 0) return DecodingCost{};
    const double plain_us =
        inside_us(pair_.target_pass(1, asked.batch, asked.context)) + known_us(pair_.plain_sampling(asked.batch));
    const double verify_us = inside_us(pair_.target_pass(max_tokens(gamma, convention), asked.batch, asked.context)) +
                             known_us(pair_.sampling(gamma, asked.batch)) +
                             known_us(pair_.catch_up(gamma, asked.batch, asked.context));
    const double drafting_us = inside_us(pair_.drafting(gamma, asked.batch, asked.context));
    const auto passes = static_cast<double>(draft_passes(gamma, charge_));
    return DecodingCost{.iteration = (verify_us + iteration_us_ + 1e3 * asked.overhead_ms) / plain_us,
                        .draft_pass = drafting_us / passes / plain_us};
  }

  [[nodiscard]] double target_us(const StepShape& shape, Convention convention) const override {
    const double us = pass_us(shape, shape.tokens) + sampling_us(shape, convention);
    if (!drafts(shape, convention)) return us;
    const std::int64_t gamma = drafts_of(shape, convention);
    return us + iteration_us_ + known_us(pair_.catch_up(gamma, shape.batch, std::llround(shape.context))) +
           beyond_us(shape);
  }

  void check_memory(const StepShape& shape) const override {
    if (memory_) memory_->check(shape.batch, shape.tokens, std::llround(shape.context));
  }

  /// Heads read what the target has read: prompts cost them nothing.
  [[nodiscard]] double drafter_us(const StepShape& shape) const override {
    const std::int64_t context = std::llround(shape.context);
    if (role_ == Role::head_drafting && shape.prompt) return 0.0;
    if (role_ == Role::autoregressive_drafting && shape.prompt) {
      return inside_us(surface_of(shape).drafter_pass(shape.tokens, shape.batch, context));
    }
    return inside_us(surface_of(shape).drafting(shape.tokens, shape.batch, context));
  }

 private:
  static std::optional<PairSurface> prompt_surface(const TimedPair& pair, Role role) {
    if (!pair.prompts) return std::nullopt;
    return PairSurface(pair.prompts->profile, pair.models, pair.target, pair.draft, role, pair.prompts->sheet);
  }
  [[nodiscard]] const PairSurface& surface_of(const StepShape& shape) const {
    return shape.prompt && prompts_ ? *prompts_ : pair_;
  }

  [[nodiscard]] double pass_us(const StepShape& shape, std::int64_t tokens) const {
    return inside_us(surface_of(shape).target_pass(tokens, shape.batch, std::llround(shape.context)));
  }

  /// Time added to a verification if it is off by verification_.
  [[nodiscard]] double beyond_us(const StepShape& shape) const {
    if (verification_ == 1.0) return 0.0;
    const double us = pass_us(shape, shape.tokens);
    return std::max(us * verification_, std::min(us, pass_us(shape, 1))) - us;
  }

  /// Outside of the domain of a fit this throws: a row of a sweep cannot carry a warning.
  [[nodiscard]] double inside_us(const Latency& latency) const {
    if (latency.inside) return latency.time_us;
    throw DomainError(name_ +
                      ": this batch, context and gamma are outside the domain of its fit - choose values within "
                      "it, or measure there (foredraft calibrate --batch --context)");
  }

  /// Whether the pass verifies drafts, that is, is neither a prefill nor a decode step.
  [[nodiscard]] static bool drafts(const StepShape& shape, Convention convention) {
    return !shape.prompt && shape.tokens > max_tokens(0, convention);
  }

  [[nodiscard]] static std::int64_t drafts_of(const StepShape& shape, Convention convention) {
    return shape.tokens - (convention == Convention::bonus ? 1 : 0);
  }

  /// Sampling and verifying in the iteration of a target pass; a prefill yields one token.
  [[nodiscard]] double sampling_us(const StepShape& shape, Convention convention) const {
    return known_us(drafts(shape, convention) ? pair_.sampling(drafts_of(shape, convention), shape.batch)
                                              : pair_.plain_sampling(shape.batch));
  }

  std::string name_;
  Role role_;
  Drafting charge_;
  double iteration_us_;  ///< overhead of engines per iteration; 0 if times were measured
  PairSurface pair_;
  std::optional<PairSurface> prompts_;  ///< empty: prompts are passes of pair_ as well
  double verification_;
  std::optional<MemoryLimit> memory_;  ///< empty: not checked
};

}  // namespace

std::optional<MemoryLimit> memory_limit(const Profile& profile, const TimedPair& pair, Role role) {
  if (!pair.memory_utilization) return std::nullopt;
  const std::optional<double> capacity = capacity_bytes(profile.device);
  const bool heads = role == Role::head_drafting;
  const ModelShape* target = counted_shape(pair, pair.target);
  const ModelShape* draft = heads ? target : counted_shape(pair, pair.draft);
  if (!capacity || target == nullptr || draft == nullptr) return std::nullopt;
  return MemoryLimit{.target = *target,
                     .draft = heads ? std::nullopt : std::optional(*draft),
                     .target_deployment = pair.sheet.target,
                     .draft_deployment = pair.sheet.draft,
                     .capacity_bytes = *capacity * *pair.memory_utilization};
}

std::shared_ptr<const PassTimes> surface_times(const Profile& profile, const std::string& name, const TimedPair& pair,
                                               const Drafter& drafter) {
  return std::make_shared<SurfaceTimes>(profile, name, pair, drafter);
}

}  // namespace foredraft::latency
