// SPDX-License-Identifier: Apache-2.0
#include "answers/load_server.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analytic/answer/answer.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/words.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/operations/step_operations.hpp"
#include "latency/surfaces/grid_times.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"

namespace foredraft::answers {
namespace {

constexpr std::string_view no_prompts =
    "add --prompt-device D, a data sheet for the prompts (foredraft list devices), or use --device instead of this "
    "profile";

class TimesWithError final : public ForwardPassTimes {
 public:
  TimesWithError(std::shared_ptr<const ForwardPassTimes> times, double iteration_us, const TimesError& error)
      : times_(std::move(times)), iteration_us_(iteration_us), error_(error) {}

  [[nodiscard]] std::optional<DecodingCost> cost(const LookedUpTimes& asked, std::int64_t gamma,
                                                 Convention convention) const override {
    return times_->cost(asked, gamma, convention);
  }
  [[nodiscard]] double target_us(const StepShape& shape, Convention convention) const override {
    const double us = times_->target_us(shape, convention);
    if (shape.prompt || shape.batch == 0) return us * error_.step * error_.prompts;
    StepShape decoding = shape;
    decoding.chunk = 0;
    const double rows_us = shape.chunk > 0 ? times_->target_us(decoding, convention) : us;
    return error_.step * (rows(decoding, rows_us, convention) + error_.prompts * (us - rows_us));
  }
  void check_memory(const StepShape& shape) const override { times_->check_memory(shape); }
  [[nodiscard]] double drafter_us(const StepShape& shape) const override {
    return times_->drafter_us(shape) * error_.step * (shape.prompt ? error_.prompts : error_.drafting);
  }

 private:
  /// Time of the decoding requests, whose pass takes `us` without errors. The error of all passes is not included.
  [[nodiscard]] double rows(StepShape shape, double us, Convention convention) const {
    if (shape.tokens <= max_tokens(0, convention)) return us;
    const double verify_us = us - iteration_us_;
    const double beyond_us = error_.iteration_us.value_or(iteration_us_) / error_.step;
    if (error_.verification == 1.0) return verify_us + beyond_us;
    shape.tokens = 1;
    const double step_us = times_->target_us(shape, Convention::bonus);
    return std::max(verify_us * error_.verification, std::min(verify_us, step_us)) + beyond_us;
  }

  std::shared_ptr<const ForwardPassTimes> times_;
  double iteration_us_;
  TimesError error_;
};

std::optional<latency::MemoryLimit> limit_of(const LoadQuestion& question, const latency::Profile& profile) {
  const ProfileQuestion& pair = question.pair;
  const auto limit_on = [&pair](const latency::Profile& device) {
    return latency::memory_limit(device, timed_pair_of(pair, device), pair.drafting, pair.memory_utilization);
  };
  if (auto limit = limit_on(profile)) return limit;
  // A table of steps states neither shapes nor memory, but the device for its prompts does.
  return question.prompts ? limit_on(question.prompts->profile) : std::nullopt;
}

double operators_of(const ProfileQuestion& pair) {
  const auto shape = std::ranges::find(pair.models, pair.target, &latency::ModelShape::name);
  return shape == pair.models.end() ? 0.0 : latency::operators_of_step(*shape, pair.target_deployment);
}

}  // namespace

std::shared_ptr<const ForwardPassTimes> times_with_error(std::shared_ptr<const ForwardPassTimes> times,
                                                         double iteration_us, const TimesError& error) {
  return std::make_shared<TimesWithError>(std::move(times), iteration_us, error);
}

LoadServers::LoadServers(const LoadQuestion& question, const latency::Profile& profile, latency::Engine engine)
    : question_(question),
      engine_(std::move(engine)),
      memory_(limit_of(question, profile)),
      operators_(operators_of(question.pair)) {
  latency::TimedPair models = timed_pair_of(question.pair, profile);
  models.prompts = question.prompts;
  if (models.sheet.attainable) iteration_us_ = models.sheet.attainable->iteration_us.value;
  cost_.source = question.source;
  cost_.times = latency::grid_times(latency::surface_times(profile, question.source, models, drafter()));
}

LoadServers LoadServers::with(latency::Engine engine) const {
  LoadServers servers = *this;
  servers.engine_ = std::move(engine);
  return servers;
}

Drafter LoadServers::drafter() const {
  return scenario::find_entry(scenario::drafters(), latency::drafter_word(question_.pair.drafting))->value;
}

/// Autoregressive decoding has no convention of its own.
Convention LoadServers::convention_at(std::int64_t gamma) const {
  return gamma == 0 ? Convention::bonus : question_.pair.convention;
}

std::int64_t LoadServers::longest() const {
  const auto most = [](const TokenCount& count) { return std::max(count.tokens, count.p95); };
  return std::llround(most(question_.prompt) + most(question_.output));
}

EngineTerms LoadServers::terms(const TimesError& error) const {
  EngineTerms terms = latency::terms_of(engine_, error.host, operators_);
  const EngineTerms drafting = latency::terms_of(engine_, error.draft_host, operators_);
  terms.draft_host_us = drafting.draft_host_us;
  terms.draft_host_request_us = drafting.draft_host_request_us;
  if (question_.graph_tokens) terms.graph_tokens = *question_.graph_tokens;
  return terms;
}

Scenario LoadServers::scenario(const AtLoad& at, const Arrivals& arrivals, const TimesError& asked) const {
  const Convention convention = convention_at(at.gamma);
  TimesError error = asked;
  error.step *= engine_.step.value;
  Measured cost = cost_;
  cost.times = times_with_error(cost_.times, iteration_us_, error);
  std::vector<GammaRange> schedule = at.schedule;
  if (!schedule.empty()) schedule.back().to_batch = std::max(schedule.back().to_batch, at.max_batch);
  Server server{.acceptance = analytic::served_acceptance(acceptance_of(question_.pair), at.gamma, convention),
                .gamma_schedule = std::move(schedule),
                .max_batch = at.max_batch,
                .arrivals = arrivals,
                .prompt = question_.prompt,
                .output = question_.output,
                .overhead_us = question_.pair.overhead_us,
                .engine = terms(error),
                .prefix_hit = question_.prefix_hit,
                .recorded = question_.recorded,
                .switch_us = at.schedule.empty() ? 0.0 : question_.switch_us,
                .switch_margin = at.schedule.empty() ? 0 : question_.switch_margin};
  return {.fidelity = std::move(server),
          .gamma = at.gamma,
          .convention = convention,
          .drafter = drafter(),
          .cost = std::move(cost)};
}

void LoadServers::limit_batch(AtLoad& at) const {
  at.max_batch = question_.max_batch.value_or(engine_.max_requests);
  const std::int64_t tokens = std::max<std::int64_t>(1, max_tokens(at.gamma, convention_at(at.gamma)));
  if (memory_ && !question_.pair.ignore_memory) {
    latency::MemoryLimit limit = *memory_;
    if (at.gamma == 0) limit.models.draft.reset();
    const std::int64_t fitting = limit.max_batch(tokens, longest());
    if (fitting < at.max_batch) {
      at.max_batch = fitting;
      at.limit = BatchLimit::memory;
    }
  }
  if (at.max_batch == 0 || is_timed(at.gamma, at.max_batch)) return;
  // A table with times at a batch size also has times at smaller ones.
  std::int64_t timed = 0;
  for (std::int64_t beyond = at.max_batch; beyond - timed > 1;) {
    const std::int64_t batch = timed + (beyond - timed) / 2;
    (is_timed(at.gamma, batch) ? timed : beyond) = batch;
  }
  if (timed == 0) ask(at.gamma, 1);  // throws a message with what is missing
  at.max_batch = timed;
  at.limit = BatchLimit::times;
}

std::optional<double> LoadServers::memory_bytes(const AtLoad& at) const {
  if (!memory_ || !at.answers()) return std::nullopt;
  latency::MemoryLimit limit = *memory_;
  if (at.gamma == 0) limit.models.draft.reset();
  const std::int64_t batch = std::max<std::int64_t>(1, std::llround(at.equilibrium.batch));
  const std::int64_t tokens = std::max<std::int64_t>(1, max_tokens(at.gamma, convention_at(at.gamma)));
  const auto context = std::llround(question_.prompt.tokens + 0.5 * question_.output.tokens);
  return limit.need(batch, tokens, context).total(batch);
}

bool LoadServers::beyond_graphs(const AtLoad& at) const {
  const EngineTerms of = terms({});
  if (of.graph_tokens == 0 || of.eager_us == 0.0 || of.slot_by_slot || !at.answers()) return false;
  const std::int64_t tokens = std::max<std::int64_t>(1, max_tokens(at.gamma, convention_at(at.gamma)));
  return at.equilibrium.batch * static_cast<double>(tokens) > static_cast<double>(of.graph_tokens);
}

double LoadServers::iteration_us(std::int64_t batch, std::int64_t context, std::int64_t gamma,
                                 std::int64_t tokens) const {
  const auto held = static_cast<double>(context);
  const double step = engine_.step.value;
  double us = step * cost_.times->target_us({.batch = batch, .tokens = tokens, .context = held}, Convention::bonus);
  if (tokens > 1) us -= (step - 1.0) * iteration_us_;  // the factor of a calibration applies only to passes
  if (gamma > 0) {
    const bool one_by_one = question_.pair.drafting == latency::Role::autoregressive_drafting;
    const StepShape draft{.batch = batch, .tokens = one_by_one ? 1 : gamma, .context = held};
    us += step * cost_.times->drafter_us(draft) * (one_by_one ? static_cast<double>(gamma) : 1.0);
    if (tokens == 1) us += iteration_us_;  // a batch that drafts and verifies none of its drafts
  }
  const EngineTerms of = terms({});
  const auto requests = static_cast<double>(batch);
  double host_us = of.host_us + of.host_request_us * requests;
  if (gamma > 0) host_us += of.draft_host_us + of.draft_host_request_us * requests;
  return of.asynchronous ? std::max(us, host_us) : us + host_us;
}

void LoadServers::check_prompts() const {
  const auto tokens = std::max<std::int64_t>(1, std::llround(question_.prompt.tokens));
  const StepShape pass{.batch = 1, .tokens = tokens, .context = 0.0, .prompt = true};
  try {
    static_cast<void>(cost_.times->target_us(pass, Convention::bonus));
    static_cast<void>(cost_.times->drafter_us(pass));
  } catch (const DomainError& error) {
    throw DomainError(
        fmt::format("the profile has no time for a prompt of {} tokens ({}) - {}", tokens, error.what(), no_prompts));
  }
}

void LoadServers::ask(std::int64_t gamma, std::int64_t batch) const {
  const std::int64_t tokens = max_tokens(gamma, convention_at(gamma));
  for (const double context : {question_.prompt.tokens, static_cast<double>(longest())}) {
    const StepShape pass{.batch = batch, .tokens = tokens, .context = context};
    static_cast<void>(cost_.times->target_us(pass, convention_at(gamma)));
    if (gamma == 0) continue;
    const bool one_by_one = question_.pair.drafting == latency::Role::autoregressive_drafting;
    static_cast<void>(cost_.times->drafter_us({.batch = batch, .tokens = one_by_one ? 1 : gamma, .context = context}));
  }
}

bool LoadServers::is_timed(std::int64_t gamma, std::int64_t batch) const {
  try {
    ask(gamma, batch);
  } catch (const DomainError&) {
    return false;
  }
  return true;
}

}  // namespace foredraft::answers
