// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/pair_surface.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "scenario/family.hpp"

namespace foredraft::latency {
namespace {

/// The drafters whose forward passes can be timed.
struct TimedDrafter {
  Drafter drafter;
  Role role;
};

const std::array<TimedDrafter, 3>& timed_drafters() {
  static const std::array<TimedDrafter, 3> all{{{AutoregressiveDrafter{}, Role::autoregressive_drafting},
                                                {BlockDrafter{}, Role::block_drafting},
                                                {Heads{}, Role::head_drafting}}};
  return all;
}

}  // namespace

const std::vector<std::string>& drafter_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> names;
    for (const TimedDrafter& timed : timed_drafters()) names.emplace_back(scenario::name_of(timed.drafter));
    return names;
  }();
  return words;
}

std::optional<Role> role_of_drafter(std::string_view word) {
  for (const TimedDrafter& timed : timed_drafters()) {
    if (scenario::name_of(timed.drafter) == word) return timed.role;
  }
  return std::nullopt;
}

Role drafting_role(const Drafter& drafter) {
  if (const std::optional<Role> role = role_of_drafter(scenario::name_of(drafter))) return *role;
  throw DomainError(
      fmt::format("no times for drafter {} (known: {})", scenario::name_of(drafter), fmt::join(drafter_words(), ", ")));
}

std::string_view drafter_word(Role drafting) {
  for (const TimedDrafter& timed : timed_drafters()) {
    if (timed.role == drafting) return scenario::name_of(timed.drafter);
  }
  return "";
}

namespace {

/// Fitted sharpness of the overlap, from drafting passes of models of 20 M to 40 M parameters by themselves and in
/// llama.cpp's loop, over 1 to 9 tokens (docs/validation.md).
constexpr double overlap_sharpness = 3.0;

/// For a data sheet the format is that of the deployment.
Setting setting_of(const Profile& profile, const std::string& target, const SheetPass& pass) {
  Setting setting = setting_for(profile, target);
  if (profile.source == Source::datasheet) setting.dtype = to_string(pass.deployment->weights);
  return setting;
}

CostSurface surface_of(const Profile& profile, const std::vector<ModelShape>& shapes, const std::string& target,
                       const std::string& model, Role role, const SheetPass& pass) {
  return {profile,
          shapes,
          {.model = model, .role = role, .source_length = 0, .setting = setting_of(profile, target, pass)},
          pass};
}

SheetPass pass_of(const Deployment& deployment, const std::optional<Attainable>& attainable) {
  if (!attainable) return {.deployment = deployment};
  const Range& step = attainable->step;
  return {.deployment = deployment,
          .attained = central(*attainable),
          .spread = std::max(step.high / step.value, step.value / step.low) - 1.0};
}

/// Steps that a user measured may have the decoder passes of a drafter but not its drafting, and those of a head only
/// its drafting.
bool knows(const Profile& profile, const std::vector<ModelShape>& shapes, const std::string& model, Role role) {
  return std::any_of(shapes.begin(), shapes.end(), [&](const ModelShape& shape) { return shape.name == model; }) ||
         std::any_of(profile.steps.begin(), profile.steps.end(),
                     [&](const StepRow& row) { return row.cell.model == model && row.cell.role == role; });
}

}  // namespace

std::optional<Attainable> attainable_of(const Profile& profile) {
  if (profile.source == Source::datasheet) return attainable_of(peaks_of(profile.device, profile.limits));
  if (profile.source == Source::operators) return attainable_of(DevicePeaks{});
  return std::nullopt;
}

PairSurface::PairSurface(const Profile& profile, const std::vector<ModelShape>& shapes, const std::string& target,
                         const std::string& drafter, Role drafting, const SheetPair& sheet)
    : one_by_one_(drafting == Role::autoregressive_drafting),
      target_(surface_of(profile, shapes, target, target, Role::decoder_pass, pass_of(sheet.target, sheet.attainable))),
      loop_(profile.engine_loop) {
  const SheetPass draft_pass = pass_of(sheet.draft, sheet.attainable);
  const bool drafting_known = knows(profile, shapes, drafter, drafting);
  if (one_by_one_ && (knows(profile, shapes, drafter, Role::decoder_pass) || !drafting_known)) {
    drafter_pass_ = surface_of(profile, shapes, target, drafter, Role::decoder_pass, draft_pass);
  }
  if (!one_by_one_ || drafting_known) {
    drafting_ = surface_of(profile, shapes, target, drafter, drafting, draft_pass);
  }
  const auto shape = std::ranges::find(shapes, target, &ModelShape::name);
  if (shape != shapes.end()) sampling_.emplace(profile, setting(), shape->vocabulary);
}

Latency PairSurface::target_pass(std::int64_t tokens, std::int64_t batch, std::int64_t context) const {
  return target_.at({batch, tokens, context});
}

Latency PairSurface::drafting(std::int64_t gamma, std::int64_t batch, std::int64_t context) const {
  check_at_least("gamma", gamma, 1);
  if (drafting_) {
    if (const std::optional<Latency> all = drafting_->measured_at({batch, gamma, context})) return *all;
  }
  const auto one_by_one = [gamma](Latency one) {
    one.time_us *= static_cast<double>(gamma);
    return one;
  };
  if (drafter_pass_) {
    if (const std::optional<Latency> one = drafter_pass_->measured_at({batch, 1, context})) return one_by_one(*one);
  }
  return drafting_ ? drafting_->at({batch, gamma, context}) : one_by_one(drafter_pass_->at({batch, 1, context}));
}

std::optional<Latency> PairSurface::catch_up(std::int64_t gamma, std::int64_t batch, std::int64_t context) const {
  check_at_least("gamma", gamma, 1);
  if (!one_by_one_ || !loop_ || loop_->draft_catch_up == CatchUp::none) return std::nullopt;
  Latency pass = drafter_pass(gamma + 1, batch, context);
  if (!drafting_) return pass;
  const auto in_loop = drafting_->measured_at({batch, 1, context});
  const auto alone = drafter_pass_->measured_at({batch, 1, context});
  if (!in_loop || !alone || in_loop->time_us <= alone->time_us) return pass;
  // Reading weights from memory and computing overlap in part: (moving^p + computing^p)^(1/p), as in LatencyModel.
  const auto power = [](double us) { return std::pow(us, overlap_sharpness); };
  pass.time_us = std::pow(power(pass.time_us) + power(in_loop->time_us) - power(alone->time_us), 1 / overlap_sharpness);
  pass.origin = std::max({pass.origin, in_loop->origin, alone->origin});
  return pass;
}

std::optional<Latency> PairSurface::sampling(std::int64_t gamma, std::int64_t batch) const {
  check_at_least("gamma", gamma, 1);
  if (loop_ && loop_->draw_us.value) return draws(gamma + 1, batch);
  const std::optional<Latency> verification = sampling_ ? sampling_->at(batch, gamma) : std::nullopt;
  if (!verification) return std::nullopt;
  const std::int64_t draws = one_by_one_ ? gamma : 1;
  const std::optional<Latency> draw = plain_sampling(batch * gamma / draws);
  if (!draw) return std::nullopt;
  const double drawing_us = static_cast<double>(draws) * draw->time_us;
  const double whole_us = drawing_us + verification->time_us;
  if (!(whole_us > 0.0)) return std::nullopt;
  return Latency{
      .time_us = whole_us,
      .spread = (drawing_us * draw->spread.value_or(0.0) + verification->time_us * verification->spread.value_or(0.0)) /
                whole_us,
      .origin = std::max(draw->origin, verification->origin),
      .inside = draw->inside && verification->inside};
}

std::optional<Latency> PairSurface::plain_sampling(std::int64_t batch) const {
  if (loop_ && loop_->draw_us.value) return draws(1, batch);
  return sampling_ ? sampling_->at(batch, 0) : std::nullopt;
}

Latency PairSurface::draws(std::int64_t positions, std::int64_t batch) const {
  return {.time_us = static_cast<double>(positions * batch) * *loop_->draw_us.value,
          .spread = std::nullopt,
          .origin = Origin::measured};
}

Latency PairSurface::drafter_pass(std::int64_t tokens, std::int64_t batch, std::int64_t context) const {
  if (!drafter_pass_) throw DomainError("only an autoregressive drafter has passes over given tokens");
  return drafter_pass_->at({batch, tokens, context});
}

}  // namespace foredraft::latency
