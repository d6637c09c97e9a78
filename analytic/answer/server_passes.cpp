// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/server_passes.hpp"

#include <cmath>
#include <numbers>

namespace foredraft::analytic {
namespace {

/// Standard deviation of the logarithm of a length; 0 unless it is lognormal.
double log_deviation(const TokenCount& count) {
  if (count.p95 == 0.0) return 0.0;
  // p95 / mean = exp(z sigma - sigma^2 / 2) has two solutions; the smaller sigma is used.
  constexpr double z = 1.6448536269514722;  // 95 % of a normal variate lie below
  return z - std::sqrt(std::max(z * z - 2.0 * std::log(count.p95 / count.tokens), 0.0));
}

/// Mean maximum of `count` independent lognormal lengths, divided by the mean length; by the midpoint rule.
double longest_of(std::int64_t count, double sigma) {
  if (sigma == 0.0) return 1.0;
  constexpr double step = 0.125;  // in standard deviations, from 8 below the mean to 8 above
  constexpr int half = 64;
  const auto shorter = [](double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); };
  double mean = 0.0;
  for (int i = -half; i < half; ++i) {
    const double z = step * i;
    const double share = std::pow(shorter(z + step), count) - std::pow(shorter(z), count);
    mean += share * std::exp(sigma * (z + 0.5 * step - 0.5 * sigma));
  }
  return mean;
}

}  // namespace

double squared_variation(const TokenCount& count) {
  const double sigma = log_deviation(count);
  return std::expm1(sigma * sigma);
}

double ServedPasses::verify_us(std::int64_t batch, std::int64_t gamma, std::int64_t chunk) const {
  return target_us({.batch = batch,
                    .tokens = batch > 0 ? max_tokens(gamma, scenario_.convention) : 0,
                    .context = batch > 0 ? context_ : 0.0,
                    .chunk = chunk,
                    .chunk_context = chunk > 0 ? chunk_context() : 0.0});
}

double ServedPasses::draft_us(std::int64_t batch, std::int64_t gamma) const {
  const std::int64_t passes = draft_passes(gamma, drafting_);
  if (passes == 0) return 0.0;
  const double halfway = 0.5 * static_cast<double>(passes - 1);
  return static_cast<double>(passes) *
         drafter_us(
             {.batch = batch, .tokens = drafting_ == Drafting::block ? gamma : 1, .context = context_ + halfway});
}

ServedPasses::Passes ServedPasses::looked_up_passes() const {
  return {.verify_us = [this](std::int64_t batch, std::int64_t gamma,
                              double chunk) { return verify_us(batch, gamma, std::llround(chunk)); },
          .draft_us = [this](std::int64_t batch, std::int64_t gamma) { return draft_us(batch, gamma); },
          .draft_prompt_us = [this](double chunk) { return draft_prompt_us(std::llround(chunk)); }};
}

IterationParts ServedPasses::iteration(const Passes& passes, std::int64_t batch, double chunk) const {
  const EngineTerms& engine = server_.engine;
  const std::int64_t gamma = gamma_at(batch);
  const bool drafts = batch > 0 && gamma > 0;
  const bool slots = drafts && engine.slot_by_slot;
  const std::int64_t rows = slots ? 1 : batch;
  const double times = slots ? static_cast<double>(batch) : 1.0;
  const auto verified = static_cast<double>(rows * max_tokens(gamma, scenario_.convention));
  const auto launch_us = [&engine](double tokens, double us) {
    const bool captured = engine.graph_tokens == 0 || tokens <= static_cast<double>(engine.graph_tokens);
    return captured ? 0.0 : std::max(engine.eager_us - us, 0.0);
  };
  IterationParts parts;
  if (batch > 0) parts.verification = times * passes.verify_us(rows, gamma, 0.0);
  if (drafts) parts.overhead = times * server_.overhead_us;
  if (drafts) parts.drafting = times * passes.draft_us(rows, gamma);
  const bool apart = slots || batch == 0;  // prompts have a separate pass
  if (chunk > 0.0) {
    parts.prompts =
        apart ? passes.verify_us(0, gamma, chunk) : passes.verify_us(rows, gamma, chunk) - parts.verification;
  }
  if (!apart) {
    parts.engine = launch_us(verified + chunk, parts.verification + parts.prompts);
  } else {
    if (slots) parts.engine = times * launch_us(verified, parts.verification / times);
    if (chunk > 0.0) parts.engine += launch_us(chunk, parts.prompts);
  }
  if (chunk > 0.0) parts.prompts += passes.draft_prompt_us(chunk);
  const double requests = static_cast<double>(batch);
  const double host_us = engine.host_us + engine.host_request_us * requests +
                         (drafts ? engine.draft_host_us + engine.draft_host_request_us * requests : 0.0);
  parts.engine += engine.asynchronous ? std::max(host_us - parts.total(), 0.0) : host_us;
  return parts;
}

double ServedPasses::prompt_us(std::int64_t prompts) const {
  const double longest = longest_of(prompts, log_deviation(server_.prompt));
  const StepShape pass{.batch = prompts,
                       .tokens = std::llround(longest * static_cast<double>(unread())),
                       .context = static_cast<double>(prompt_ - unread()),
                       .prompt = true};
  const double launched_us = server_.engine.graph_tokens > 0 ? server_.engine.eager_us : 0.0;
  return std::max(target_us(pass), launched_us) + (drafts_prompts() ? drafter_us(pass) : 0.0);
}

std::vector<std::int64_t> ServedPasses::jumps() const {
  std::vector<std::int64_t> jumps;
  for (const GammaRange& range : schedule_) {
    jumps.push_back(range.to_batch);
    const std::int64_t captured = server_.engine.graph_tokens / max_tokens(range.gamma, scenario_.convention);
    if (captured >= range.from_batch && captured < range.to_batch) jumps.push_back(captured);
  }
  return jumps;
}

double ServedPasses::chunk_context() const {
  const std::int64_t pass = std::max<std::int64_t>(server_.engine.pass_tokens, 1);
  const std::int64_t whole = unread() / pass;
  const std::int64_t rest = unread() % pass;
  const auto before = static_cast<double>(pass * whole);
  const double read = before * (0.5 * static_cast<double>(pass * (whole - 1))) + before * static_cast<double>(rest);
  return static_cast<double>(prompt_ - unread()) + std::max(read, 0.0) / static_cast<double>(unread());
}

}  // namespace foredraft::analytic
