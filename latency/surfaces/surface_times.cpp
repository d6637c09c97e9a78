// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/surface_times.hpp"

#include <cmath>
#include <optional>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/surfaces/drafter_words.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/registries.hpp"

namespace foredraft::latency {
namespace {

/// Sampling follows straight lines beyond what was measured; nothing where the profile does not tell.
double known_us(const std::optional<Latency>& latency) { return latency ? latency->time_us : 0.0; }

class SurfaceTimes final : public PassTimes {
 public:
  SurfaceTimes(const Profile& profile, std::string name, const LookedUpTimes& models, const Drafter& drafter)
      : name_(std::move(name)),
        role_(drafting_role(drafter)),
        charge_(scenario::drafting(drafter)),
        pair_(profile, model_registry(), models.target, models.draft, role_, attainable_sheet(profile)) {}

  [[nodiscard]] DecodingCost cost(const LookedUpTimes& asked, std::int64_t gamma,
                                  Convention convention) const override {
    if (gamma == 0) return {};
    const double plain_us =
        inside_us(pair_.target_pass(1, asked.batch, asked.context)) + known_us(pair_.plain_sampling(asked.batch));
    const double verify_us = inside_us(pair_.target_pass(max_tokens(gamma, convention), asked.batch, asked.context)) +
                             known_us(pair_.sampling(gamma, asked.batch));
    const double drafting_us = inside_us(pair_.drafting(gamma, asked.batch, asked.context));
    const auto passes = static_cast<double>(draft_passes(gamma, charge_));
    return {.iteration = (verify_us + 1e3 * asked.overhead_ms) / plain_us,
            .draft_pass = drafting_us / passes / plain_us};
  }

  [[nodiscard]] double target_us(const StepShape& shape, Convention convention) const override {
    return inside_us(pair_.target_pass(shape.tokens, shape.batch, std::llround(shape.context))) +
           sampling_us(shape, convention);
  }

  /// Heads stand on what the target has read: prompts cost them nothing.
  [[nodiscard]] double drafter_us(const StepShape& shape) const override {
    const std::int64_t context = std::llround(shape.context);
    if (role_ == Role::head_drafting && shape.prompt) return 0.0;
    if (role_ == Role::autoregressive_drafting && shape.prompt) {
      return inside_us(pair_.drafter_pass(shape.tokens, shape.batch, context));
    }
    return inside_us(pair_.drafting(shape.tokens, shape.batch, context));
  }

 private:
  /// Outside of the domain of a fit nothing is answered: a row of a sweep cannot carry a warning.
  [[nodiscard]] double inside_us(const Latency& latency) const {
    if (latency.inside) return latency.time_us;
    throw DomainError(name_ +
                      ": this batch, context and gamma lie outside the domain of its fit - ask within it, or "
                      "measure there (foredraft calibrate --batch --context)");
  }

  /// Drawing and verifying in the iteration to which a pass of the target belongs; a prompt yields one token.
  [[nodiscard]] double sampling_us(const StepShape& shape, Convention convention) const {
    const std::int64_t gamma = shape.tokens - (convention == Convention::bonus ? 1 : 0);
    return known_us(shape.prompt || gamma == 0 ? pair_.plain_sampling(shape.batch)
                                               : pair_.sampling(gamma, shape.batch));
  }

  std::string name_;
  Role role_;
  Drafting charge_;
  PairSurface pair_;
};

}  // namespace

std::shared_ptr<const PassTimes> surface_times(const Profile& profile, const std::string& name,
                                               const LookedUpTimes& models, const Drafter& drafter) {
  return std::make_shared<SurfaceTimes>(profile, name, models, drafter);
}

}  // namespace foredraft::latency
