// SPDX-License-Identifier: Apache-2.0
#include "answers/engine_calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>

#include "answers/runs.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/server.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/cost.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"
#include "scenario/value.hpp"

namespace foredraft::answers {
namespace {

using analytic::EngineTerm;
using analytic::FittedTerm;
using analytic::TimedIterations;

struct TermOfEngine {
  EngineTerm term;
  latency::Range latency::Engine::*range;
  std::string_view what;
};

constexpr std::array<TermOfEngine, 5> terms_of_engine{{
    {EngineTerm::step, &latency::Engine::step, "passes, measured over predicted"},
    {EngineTerm::host, &latency::Engine::host_us, "ms outside of passes, per iteration"},
    {EngineTerm::host_request, &latency::Engine::host_request_us, "ms more for each of its requests"},
    {EngineTerm::draft_host, &latency::Engine::draft_host_us, "ms more with drafts, per iteration"},
    {EngineTerm::draft_host_request, &latency::Engine::draft_host_request_us, "ms more for each request with drafts"},
}};

bool is_of_drafts(EngineTerm term) { return term == EngineTerm::draft_host || term == EngineTerm::draft_host_request; }

/// Predicted times of the forward passes of iterations.
class PredictedPasses {
 public:
  PredictedPasses(const CalibrationQuestion& question, const latency::Profile& profile, bool slot_by_slot)
      : question_(question), slot_by_slot_(slot_by_slot) {
    const latency::TimedPair models = timed_pair_of(question.pair, profile);
    if (models.sheet.attainable) iteration_us_ = models.sheet.attainable->iteration_us.value;
    const Drafter drafter =
        scenario::find_entry(scenario::drafters(), latency::drafter_word(question.pair.drafting))->value;
    times_ = latency::surface_times(profile, question.device, models, drafter);
  }

  /// The measured time of an iteration, and the predicted time of its passes, interpolated if `requests` is no integer.
  [[nodiscard]] TimedIterations iterations(const Run& run, const RunPart& part, double iteration_us,
                                           double requests) const {
    const std::int64_t gamma = run.is_plain() ? 0 : run.setting.gamma.value_or(0);
    const double context = part.context_tokens.value_or(run.context_tokens.value_or(question_.context));
    TimedIterations timed{.iteration_us = iteration_us, .requests = std::max(1.0, requests), .drafts = gamma > 0};
    const double below = std::floor(timed.requests), share = timed.requests - below;
    const auto batch = static_cast<std::int64_t>(below);
    const auto passes = [&](std::int64_t of) { return passes_us(of, gamma, context); };
    timed.passes_us = share > 0.0 ? passes(batch) + share * (passes(batch + 1) - passes(batch)) : passes(batch);
    if (timed.drafts) timed.known_us = iteration_us_;
    if (part.prompt_tokens_per_s.value_or(0.0) > 0.0) {
      timed.passes_us += 1e-6 * iteration_us * *part.prompt_tokens_per_s * prompt_token_us(batch, gamma, context);
    }
    return timed;
  }

 private:
  [[nodiscard]] double passes_us(std::int64_t batch, std::int64_t gamma, double context) const {
    const bool slots = slot_by_slot_ && gamma > 0;
    const StepShape target{.batch = slots ? 1 : batch, .tokens = gamma + 1, .context = context};
    double us = times_->target_us(target, Convention::bonus);
    if (gamma > 0) {
      const bool one_by_one = question_.pair.drafting == latency::Role::autoregressive_drafting;
      const StepShape draft{.batch = target.batch, .tokens = one_by_one ? 1 : gamma, .context = context};
      us += times_->drafter_us(draft) * (one_by_one ? static_cast<double>(gamma) : 1.0) - iteration_us_;
    }
    return slots ? us * static_cast<double>(batch) : us;
  }

  /// Time that one token of a prompt adds to an iteration.
  [[nodiscard]] double prompt_token_us(std::int64_t batch, std::int64_t gamma, double context) const {
    constexpr std::int64_t chunk = 1024;
    StepShape shape{.batch = batch, .tokens = gamma + 1, .context = context};
    const double without_us = times_->target_us(shape, Convention::bonus);
    shape.chunk = chunk;
    double us = times_->target_us(shape, Convention::bonus) - without_us;
    if (gamma > 0) us += times_->drafter_us({.batch = 1, .tokens = chunk, .context = 0.0, .prompt = true});
    return us / static_cast<double>(chunk);
  }

  const CalibrationQuestion& question_;
  bool slot_by_slot_;
  double iteration_us_ = 0.0;
  std::shared_ptr<const ForwardPassTimes> times_;
};

/// The engine that all logs name; null if they name several or none, or if it is unknown.
const latency::Engine* logged_engine(const CalibrationQuestion& question) {
  std::set<const latency::Engine*> engines;
  for (const auto* logs : {&question.logs, &question.plain}) {
    for (const logs::ObservedLog& log : *logs) engines.insert(latency::find_engine(log.contents.engine));
  }
  return engines.size() == 1 ? *engines.begin() : nullptr;
}

std::string file_names(const CalibrationQuestion& question) {
  std::vector<std::string> names;
  for (const auto* logs : {&question.plain, &question.logs}) {
    for (const logs::ObservedLog& log : *logs) names.push_back(log.file);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// A value with four significant digits, for a file that people read.
double in_four_digits(double value) {
  if (!(value > 0.0)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 3.0);
  return unit < 1.0 ? std::round(value / unit) / std::round(1.0 / unit) : std::round(value / unit) * unit;
}

std::string loads_text(const std::vector<double>& loads) {
  std::vector<std::string> texts;
  for (const double load : loads) texts.push_back(fmt::format("{:.3g}", load));
  return fmt::format("{} request{}", fmt::join(texts, ", "), loads.size() == 1 && loads.front() == 1.0 ? "" : "s");
}

/// The data of a term, in words.
std::string basis_of(EngineTerm term, const analytic::EngineFit& fit) {
  const bool drafting = is_of_drafts(term);
  return fmt::format("{} speculation at {}", drafting ? "with" : "without",
                     loads_text(drafting ? fit.drafting_loads : fit.loads));
}

}  // namespace

EngineCalibration calibrate_engine(const CalibrationQuestion& question, const latency::Profile& profile) {
  if (const std::string targets = targets_differ(question.logs, question.plain); !targets.empty()) {
    throw DomainError(fmt::format("the logs are of several models: {} - calibrate each separately", targets));
  }
  const latency::Engine* logged = logged_engine(question);
  EngineCalibration calibration{.engine = question.engine ? *question.engine
                                          : logged        ? *logged
                                                          : latency::no_engine(),
                                .base = {},
                                .fit = {}};
  latency::Engine& engine = calibration.engine;
  calibration.base = engine.name;
  const PredictedPasses predicted(question, profile, engine.slot_by_slot);
  std::vector<TimedIterations> windows;
  for (const Run& run : runs_of(question.logs, question.plain).all) {
    const bool known = run.is_plain() || (run.setting.gamma && *run.setting.gamma > 0 && !run.setting.adaptive);
    for (const RunPart& part : run.parts) {
      const auto requests = part.requests ? part.requests : run.requests ? run.requests : run.load.requests;
      if (!known || !part.request_ms || !part.timed_tokens || !part.tokens || !requests) {
        ++calibration.left_out;
        continue;
      }
      if (!run.is_plain() && !question.drafts) {
        throw DomainError(
            fmt::format("{}: with speculation, and no draft model is named - add --draft D, or leave it "
                        "out",
                        *run.files.begin()));
      }
      windows.push_back(predicted.iterations(
          run, part, scenario::us_per_ms * *part.request_ms / *part.timed_tokens * *part.tokens, *requests));
    }
  }
  calibration.fit = analytic::fit_engine(windows);
  constexpr double ms_per_us = 1e-3;
  for (const TermOfEngine& entry : terms_of_engine) {
    const auto found = std::ranges::find(calibration.fit.terms, entry.term, &FittedTerm::term);
    // The fitted terms hold all time outside of passes, so the others are 0. Without drafts in the logs, those of
    // drafts stay as in the base engine.
    if (found == calibration.fit.terms.end()) {
      if (!is_of_drafts(entry.term) || !calibration.fit.drafting_loads.empty()) engine.*entry.range = {};
      continue;
    }
    engine.*entry.range = {in_four_digits(found->interval.low), in_four_digits(found->value),
                           in_four_digits(found->interval.high)};
    const double scale = entry.term == EngineTerm::step ? 1.0 : ms_per_us;
    calibration.terms.push_back({.what = entry.what,
                                 .value = scale * found->value,
                                 .interval = {scale * found->interval.low, scale * found->interval.high},
                                 .basis = basis_of(entry.term, calibration.fit)});
  }
  engine.step.low = std::max(engine.step.low, 0.01);
  engine.name = question.name;
  engine.aliases.clear();
  engine.asynchronous = false;
  engine.summary = fmt::format("{} as logged, {} on {}", calibration.base, question.pair.target, question.device);
  std::vector<std::string> bases;
  for (const CalibratedTerm& term : calibration.terms) bases.push_back(fmt::format("{}: {}", term.what, term.basis));
  engine.source = fmt::format(
      "foredraft calibrate --backend log: {} windows of {}; {}. The other numbers are those of {}: {}",
      calibration.fit.windows, file_names(question), fmt::join(bases, "; "), calibration.base, engine.source);
  return calibration;
}

}  // namespace foredraft::answers
