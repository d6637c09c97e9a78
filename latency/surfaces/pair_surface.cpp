// SPDX-License-Identifier: Apache-2.0
#include "latency/surfaces/pair_surface.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/check.hpp"
#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/surfaces/memory_fit.hpp"
#include "scenario/drafters.hpp"

namespace foredraft::latency {
namespace {

/// Drafters with timed forward passes.
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
  if (std::holds_alternative<MlpSpeculator>(drafter)) return Role::autoregressive_drafting;  // stage after stage
  throw DomainError(
      fmt::format("no times for drafter {} (known: {})", scenario::name_of(drafter), fmt::join(drafter_words(), ", ")));
}

Role drafting_role(Role asked, const ModelShape* draft, bool host) {
  const bool at_once = host || (draft != nullptr && draft->head.block_size > 0);
  return at_once && asked == Role::autoregressive_drafting ? Role::block_drafting : asked;
}

std::string_view drafter_word(Role drafting) {
  for (const TimedDrafter& timed : timed_drafters()) {
    if (timed.role == drafting) return scenario::name_of(timed.drafter);
  }
  return "";
}

namespace {

/// Sharpness of the overlap, fitted to drafting passes over 1 to 9 tokens of models with 20 M to 40 M parameters,
/// measured separately and in llama.cpp's loop (docs/validation.md).
constexpr double overlap_sharpness = 3.0;

/// For a data sheet the dtype is the deployment's format.
Setting setting_of(const Profile& profile, const std::string& target, const SheetPass& pass) {
  Setting setting = setting_for(profile, target);
  if (profile.source == Source::datasheet) setting.dtype = to_string(pass.deployment->weights.layers());
  return setting;
}

CostSurface surface_of(const Profile& profile, const std::vector<ModelShape>& shapes, const std::string& target,
                       const std::string& model, Role role, const SheetPass& pass) {
  return {profile,
          shapes,
          {.model = model, .role = role, .source_length = 0, .setting = setting_of(profile, target, pass)},
          pass};
}

SheetPass pass_of(Deployment deployment, const std::optional<Attainable>& attainable) {
  if (!attainable) return {.deployment = deployment};
  if (!deployment.expert_skew) deployment.expert_skew = attainable->expert_skew.value;
  const Range& step = attainable->step;
  return {.deployment = deployment,
          .attained = central(*attainable),
          .spread = std::max(step.high / step.value, step.value / step.low) - 1.0};
}

/// True for a block head that drafts in blocks. Throws DomainError for a block head in an autoregressive role.
bool fills_block(const std::vector<ModelShape>& shapes, const std::string& drafter, Role drafting) {
  const ModelShape* shape = shape_named(shapes, drafter);
  if (shape == nullptr || shape->head.block_size == 0 || drafting == Role::head_drafting) return false;
  if (drafting == Role::block_drafting) return true;
  throw DomainError(fmt::format("{}: one pass drafts a block of up to {} tokens - set the drafter to block", drafter,
                                max_drafts(*shape)));
}

/// True if an attainable value with a range affects verifications of this model but not decode steps.
bool uncertain_growth(const ModelShape& shape, const Deployment& deployment) {
  return (shape.experts.count > 0 && !deployment.expert_skew) || has_gguf(deployment.weights);
}

/// True if times of this role are known. A user's steps may include decoder passes of a drafter but not its drafting,
/// and for a head only its drafting.
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
                         const std::string& drafter, Role drafting, const SheetPair& sheet,
                         const std::optional<HostDrafter>& host)
    : one_by_one_(drafting == Role::autoregressive_drafting),
      overhead_us_(sheet.attainable ? sheet.attainable->iteration_us.value : 0.0),
      target_(surface_of(profile, shapes, target, target, Role::decoder_pass, pass_of(sheet.target, sheet.attainable))),
      loop_(profile.engine_loop),
      host_(host) {
  if (const ModelShape* shape = shape_named(shapes, target)) {
    sampling_.emplace(profile, setting(), shape->vocabulary);
    if (profile.source == Source::datasheet && sheet.attainable && uncertain_growth(*shape, sheet.target)) {
      const auto bound = [&](const Attainable& attainable) {
        return surface_of(profile, shapes, target, target, Role::decoder_pass, pass_of(sheet.target, attainable));
      };
      bounds_.emplace(bound(with_fast_verification(*sheet.attainable)),
                      bound(with_slow_verification(*sheet.attainable)));
    }
  }
  if (host_) return;
  const SheetPass draft_pass = pass_of(sheet.draft, sheet.attainable);
  const bool drafting_known = knows(profile, shapes, drafter, drafting);
  if (one_by_one_ && (knows(profile, shapes, drafter, Role::decoder_pass) || !drafting_known)) {
    drafter_pass_ = surface_of(profile, shapes, target, drafter, Role::decoder_pass, draft_pass);
  }
  if (fills_block(shapes, drafter, drafting)) {
    drafter_pass_ = surface_of(profile, shapes, target, drafter, Role::decoder_pass, draft_pass);
  }
  if (!one_by_one_ || drafting_known) {
    drafting_ = surface_of(profile, shapes, target, drafter, drafting, draft_pass);
  }
}

double charged_us(const std::optional<Latency>& latency) { return latency ? latency->time_us : 0.0; }

std::map<NumberFormat, NumberFormat> PairSurface::computed_in_others() const {
  std::map<NumberFormat, NumberFormat> others = target_.computed_in_others();
  for (const auto* drafter : {&drafting_, &drafter_pass_}) {
    if (*drafter) others.merge((*drafter)->computed_in_others());
  }
  return others;
}

IterationTimes PairSurface::iteration(std::int64_t gamma, std::int64_t batch, std::int64_t context,
                                      Convention convention) const {
  return {.plain = target_pass(1, batch, context),
          .verify = target_pass(max_tokens(gamma, convention), batch, context),
          .drafting = drafting(gamma, batch, context),
          .catch_up = catch_up(gamma, batch, context),
          .sampling = sampling(gamma, batch),
          .plain_sampling = plain_sampling(batch),
          .overhead_us = overhead_us_};
}

Latency PairSurface::target_pass(std::int64_t tokens, std::int64_t batch, std::int64_t context, bool prompt) const {
  return target_.at({batch, tokens, context, prompt});
}

Interval PairSurface::verification_range(std::int64_t tokens, std::int64_t batch, std::int64_t context) const {
  if (!bounds_) return {1.0, 1.0};
  const auto growth = [&](const CostSurface& surface) {
    return surface.at({batch, tokens, context}).time_us / surface.at({batch, 1, context}).time_us;
  };
  const double central = growth(target_);
  return {growth(bounds_->first) / central, growth(bounds_->second) / central};
}

Latency PairSurface::drafting(std::int64_t gamma, std::int64_t batch, std::int64_t context) const {
  check_at_least("gamma", gamma, 1);
  if (host_) {
    const double request_us = host_->request_us + host_->context_token_us * static_cast<double>(context);
    return {.time_us = static_cast<double>(batch) * request_us, .spread = std::nullopt, .origin = Origin::roofline};
  }
  if (drafting_) {
    if (const std::optional<Latency> all = drafting_->measured_at({batch, gamma, context})) return *all;
  }
  const auto one_by_one = [gamma](Latency one) {
    one.time_us *= static_cast<double>(gamma);
    return one;
  };
  if (one_by_one_ && drafter_pass_) {
    if (const std::optional<Latency> one = drafter_pass_->measured_at({batch, 1, context})) return one_by_one(*one);
  }
  return drafting_ ? drafting_->at({batch, gamma, context}) : one_by_one(drafter_pass_->at({batch, 1, context}));
}

std::optional<PassParts> PairSurface::drafting_parts(std::int64_t gamma, std::int64_t batch,
                                                     std::int64_t context) const {
  check_at_least("gamma", gamma, 1);
  if (host_) return PassParts{.passes = 0, .host_us = drafting(gamma, batch, context).time_us};
  return drafting_ ? drafting_->parts_at({batch, gamma, context}) : std::nullopt;
}

std::optional<Latency> PairSurface::catch_up(std::int64_t gamma, std::int64_t batch, std::int64_t context) const {
  check_at_least("gamma", gamma, 1);
  if (!one_by_one_ || !loop_ || loop_->draft_catch_up == CatchUp::none) return std::nullopt;
  Latency pass = drafter_pass(gamma + 1, batch, context);
  if (!drafting_) return pass;
  const auto in_loop = drafting_->measured_at({batch, 1, context});
  const auto alone = drafter_pass_->measured_at({batch, 1, context});
  if (!in_loop || !alone || in_loop->time_us <= alone->time_us) return pass;
  // Reading weights and computing overlap partly: (moving^p + computing^p)^(1/p), as in LatencyModel.
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

Latency PairSurface::drafter_pass(std::int64_t tokens, std::int64_t batch, std::int64_t context, bool prompt) const {
  if (!drafter_pass_) throw DomainError("this drafter has no passes over given tokens");
  return drafter_pass_->at({batch, tokens, context, prompt});
}

namespace {

/// Null if the shape is unknown or its memory is not counted.
const ModelShape* counted_shape(const TimedPair& pair, const std::string& name) {
  const ModelShape* shape = shape_named(pair.models, name);
  return shape != nullptr && shape->architecture != Architecture::encoder_decoder ? shape : nullptr;
}

/// The deployment of a model in the steps of a profile.
std::optional<Deployment> stated_deployment(const Profile& profile, const std::string& name) {
  const auto stated = std::ranges::find(profile.deployments, name, &ModelDeployment::model);
  if (stated == profile.deployments.end()) return std::nullopt;
  const auto weights = weight_formats(stated->weights);
  const auto cache = number_format(stated->kv_cache);
  if (!weights || !cache) return std::nullopt;
  return Deployment{.weights = *weights, .kv_cache = *cache, .tensor_parallel = stated->tensor_parallel};
}

std::optional<Deployment> deployment_of(const Profile& profile, const TimedPair& pair, const std::string& name,
                                        const Deployment& asked) {
  if (profile.source == Source::datasheet) return asked;
  if (holds_steps_alone(profile.source)) return stated_deployment(profile, name);
  const auto format = number_format(setting_for(profile, pair.target).dtype).value_or(NumberFormat::bf16);
  return Deployment{.weights = format, .kv_cache = format};
}

class SurfaceTimes final : public ForwardPassTimes {
 public:
  SurfaceTimes(const Profile& profile, std::string name, const TimedPair& pair, const Drafter& drafter)
      : name_(std::move(name)),
        role_(drafting_role(drafting_role(drafter), shape_named(pair.models, pair.draft), pair.host.has_value())),
        charge_(scenario::drafting(drafter)),
        pair_(profile, pair, role_),
        prompts_(prompt_surface(pair, role_)),
        prompts_free_(reads_no_prompts(pair, role_)),
        memory_(pair.memory_utilization ? memory_limit(profile, pair, role_, *pair.memory_utilization) : std::nullopt) {
  }

  [[nodiscard]] std::optional<DecodingCost> cost(const LookedUpTimes& asked, std::int64_t gamma,
                                                 Convention convention) const override {
    const std::int64_t verified = std::max<std::int64_t>(1, max_tokens(gamma, convention));
    if (memory_ && !memory_->fits(asked.batch, verified, asked.context)) return std::nullopt;
    if (gamma == 0) return DecodingCost{};
    const IterationTimes times = pair_.iteration(gamma, asked.batch, asked.context, convention);
    const double plain_us = inside_us(times.plain) + charged_us(times.plain_sampling);
    const double verify_us = inside_us(times.verify) + charged_us(times.sampling) + charged_us(times.catch_up);
    const double drafting_us = inside_us(times.drafting);
    const auto passes = static_cast<double>(draft_passes(gamma, charge_));
    return DecodingCost{.iteration = (verify_us + times.overhead_us + 1e3 * asked.overhead_ms) / plain_us,
                        .draft_pass = drafting_us / passes / plain_us};
  }

  [[nodiscard]] double target_us(const StepShape& shape, Convention convention) const override {
    if (shape.batch == 0) return target_us(as_prompt(shape), convention);
    const double us = iteration_pass_us(shape) + sampling_us(shape, convention);
    if (!drafts(shape, convention)) return us;
    const std::int64_t gamma = drafts_of(shape, convention);
    return us + pair_.overhead_us() + charged_us(pair_.catch_up(gamma, shape.batch, std::llround(shape.context)));
  }

  void check_memory(const StepShape& shape) const override {
    if (!memory_) return;
    if (shape.batch == 0) return check_memory(as_prompt(shape));
    if (shape.chunk == 0) return memory_->check(shape.batch, shape.tokens, std::llround(shape.context));
    const double cached = static_cast<double>(shape.batch) * shape.context + shape.chunk_context +
                          static_cast<double>(shape.chunk - shape.tokens);
    const double context = cached / static_cast<double>(shape.batch + 1);
    memory_->check(shape.batch + 1, shape.tokens, std::max<std::int64_t>(0, std::llround(context)));
  }

  /// Prompts are free for heads and stages, which read the target's hidden states, and for drafters on the host.
  [[nodiscard]] double drafter_us(const StepShape& shape) const override {
    const std::int64_t context = std::llround(shape.context);
    if (shape.prompt && prompts_free_) return 0.0;
    if (!shape.prompt && role_ == Role::block_drafting && charge_ != Drafting::block) {
      throw DomainError(name_ + ": the drafter drafts all tokens at once - set the drafter to block");
    }
    const PairSurface& pair = surface_of(shape);
    if (shape.prompt && (role_ == Role::autoregressive_drafting || pair.has_drafter_pass())) {
      return inside_us(pair.drafter_pass(shape.tokens, shape.batch, context, shape.prompt));
    }
    return inside_us(pair.drafting(shape.tokens, shape.batch, context));
  }

 private:
  static bool reads_no_prompts(const TimedPair& pair, Role role) {
    const ModelShape* draft = shape_named(pair.models, pair.draft);
    return role == Role::head_drafting || pair.host || (draft != nullptr && draft->head.stages > 0);
  }
  static std::optional<PairSurface> prompt_surface(const TimedPair& pair, Role role) {
    if (!pair.prompts) return std::nullopt;
    return PairSurface(pair.prompts->profile, pair.models, pair.target, pair.draft, role, pair.prompts->sheet,
                       pair.host);
  }
  [[nodiscard]] const PairSurface& surface_of(const StepShape& shape) const {
    return shape.prompt && prompts_ ? *prompts_ : pair_;
  }

  [[nodiscard]] double pass_us(const StepShape& shape, std::int64_t tokens) const {
    return inside_us(surface_of(shape).target_pass(tokens, shape.batch, std::llround(shape.context), shape.prompt));
  }

  /// A pass that only reads prompts.
  [[nodiscard]] static StepShape as_prompt(const StepShape& shape) {
    return {.batch = 1, .tokens = shape.chunk, .context = shape.chunk_context, .prompt = true};
  }

  /// Time of a target pass without sampling. If prompts have their own data sheet, it gives the time that they add to
  /// the profile's steps.
  [[nodiscard]] double iteration_pass_us(const StepShape& shape) const {
    if (shape.chunk == 0) return pass_us(shape, shape.tokens);
    const ForwardPassPoint decoding{shape.batch, shape.tokens, std::llround(shape.context)};
    const ForwardPassPoint prompt{1, shape.chunk, std::llround(shape.chunk_context), true};
    if (!prompts_) return inside_us(pair_.mixed_pass(decoding, prompt));
    const double longer_us = inside_us(prompts_->mixed_pass(decoding, prompt)) -
                             inside_us(prompts_->target_pass(decoding.tokens, decoding.batch, decoding.context));
    return pass_us(shape, shape.tokens) + std::max(0.0, longer_us);
  }

  /// Throws outside of the domain of a fit, because a row of a sweep cannot contain a warning.
  [[nodiscard]] double inside_us(const Latency& latency) const {
    if (latency.inside) return latency.time_us;
    throw DomainError(name_ +
                      ": this batch, context and gamma are outside the domain of its fit - choose values within "
                      "it, or measure there (foredraft calibrate --batch --context)");
  }

  /// True if the pass verifies drafts, so it is neither a prefill nor a decode step.
  [[nodiscard]] static bool drafts(const StepShape& shape, Convention convention) {
    return !shape.prompt && shape.tokens > max_tokens(0, convention);
  }

  [[nodiscard]] static std::int64_t drafts_of(const StepShape& shape, Convention convention) {
    return shape.tokens - (convention == Convention::bonus ? 1 : 0);
  }

  /// Sampling time of the iteration of a target pass; a prefill yields one token.
  [[nodiscard]] double sampling_us(const StepShape& shape, Convention convention) const {
    return charged_us(drafts(shape, convention) ? pair_.sampling(drafts_of(shape, convention), shape.batch)
                                                : pair_.plain_sampling(shape.batch));
  }

  std::string name_;
  Role role_;
  Drafting charge_;
  PairSurface pair_;
  std::optional<PairSurface> prompts_;  ///< empty: pair_ also has times of prompts
  bool prompts_free_;                   ///< prompts are free for the drafter
  std::optional<MemoryLimit> memory_;   ///< empty: not checked
};

}  // namespace

std::optional<DeployedModels> deployed_models(const Profile& profile, const TimedPair& pair, Role drafting) {
  const ModelShape* target = counted_shape(pair, pair.target);
  const auto target_deployment = deployment_of(profile, pair, pair.target, pair.sheet.target);
  if (target == nullptr || !target_deployment) return std::nullopt;
  DeployedModels models{
      .target = *target, .draft = {}, .target_deployment = *target_deployment, .draft_deployment = {}};
  if (drafting == Role::head_drafting || pair.host) return models;
  const ModelShape* draft = counted_shape(pair, pair.draft);
  const auto draft_deployment = deployment_of(profile, pair, pair.draft, pair.sheet.draft);
  if (draft == nullptr || !draft_deployment) return std::nullopt;
  models.draft = *draft;
  models.draft_deployment = *draft_deployment;
  return models;
}

std::optional<MemoryLimit> memory_limit(const Profile& profile, const TimedPair& pair, Role drafting,
                                        double utilization) {
  const std::optional<double> capacity = capacity_bytes(profile.device);
  std::optional<DeployedModels> models = deployed_models(profile, pair, drafting);
  if (!capacity || !models) return std::nullopt;
  return MemoryLimit{.models = std::move(*models), .capacity_bytes = *capacity * utilization};
}

std::shared_ptr<const ForwardPassTimes> surface_times(const Profile& profile, const std::string& name,
                                                      const TimedPair& pair, const Drafter& drafter) {
  return std::make_shared<SurfaceTimes>(profile, name, pair, drafter);
}

}  // namespace foredraft::latency
