// SPDX-License-Identifier: Apache-2.0
#include "analytic/cost/closed_loop.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analytic/cost/prompt_backlog.hpp"
#include "analytic/cost/served_passes.hpp"

namespace foredraft::analytic {
namespace {

ClosedLoop alone_in_places(const ServedLoad& load, std::int64_t places) {
  PromptPasses prompts(load.prompt_us);
  const double iterations = checked_iterations(load, places).mean;
  IterationParts parts = checked_iteration(load, places, 0.0);
  const double iteration_us = parts.total();
  const auto read = prompts.over(binomial_pmf(places, std::min(1.0 / iterations, 1.0)));
  parts.prompts += read.mean_us;
  const double cycle_us = parts.total();
  const double request_us = iterations * cycle_us;
  const auto all = static_cast<double>(places);
  const double decode_us = request_us - read.own_us;
  return {.requests_per_us = all / request_us,
          .batch = all,
          .decoding = all * decode_us / request_us,
          .iteration_us = cycle_us,
          .ttft_us = load.prompt_us ? read.own_us : iteration_us,
          .decode_us = decode_us,
          .parts = parts};
}

/// The largest batch, at most `places`, for which passes have room for the prompts of the requests that follow.
double sustained_batch(const ServedLoad& load, std::int64_t places) {
  const double iterations = checked_iterations(load, places).mean;
  // Tokens that passes have room for while a request decodes, beyond those of the prompts that follow.
  const auto spare = [&](std::int64_t batch) {
    return iterations * load.chunked.room(batch) - static_cast<double>(batch) * load.chunked.tokens;
  };
  if (spare(places) >= 0.0) return static_cast<double>(places);
  std::int64_t low = 0;
  std::int64_t high = places;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (spare(middle) >= 0.0 ? low : high) = middle;
  }
  return static_cast<double>(low) + spare(low) / (spare(low) - spare(high));
}

/// The backlog if all requests take the same number of iterations. Prompts that once waited for each other then stay
/// apart, so none waits again as long as passes have room for all. Precondition: a pass has room for fewer than two
/// prompts.
std::vector<BacklogShare> backlog_in_step(const ServedLoad& load, std::int64_t places) {
  const double iterations = checked_iterations(load, places).mean;
  const double tokens = load.chunked.tokens;
  const double room = std::max(load.chunked.room(places - 1), 1.0);
  const double passes = std::ceil(tokens / room);
  const auto all = static_cast<double>(places);
  const double requests = all / (iterations + passes);  // whose prompt begins in a pass, if none waits
  std::vector<BacklogShare> backlog;
  if (requests * passes <= 1.0) {
    backlog.push_back({.share = 1.0 - requests * passes, .prompts = 0, .tokens = 0.0});
    for (int pass = 0; pass < passes; ++pass) {
      backlog.push_back({.share = requests, .prompts = 1, .tokens = tokens - pass * room});
    }
    return backlog;
  }
  const double batch = std::min(requests * iterations, sustained_batch(load, places));
  const double prompts = std::max(all - batch, 1.0);
  const double more = prompts - std::floor(prompts);
  const auto whole = static_cast<std::int64_t>(prompts);
  const double read = batch / iterations * tokens;
  backlog.push_back({.share = 1.0 - more, .prompts = whole, .tokens = read});
  if (more > 0.0) backlog.push_back({.share = more, .prompts = whole + 1, .tokens = read});
  return backlog;
}

std::vector<BacklogShare> backlog_of_places(const ServedLoad& load, std::int64_t places) {
  constexpr double per_pass = 8.0, finest = 16.0, max_states = 1200.0;
  const std::int64_t parts =
      parts_of_prompt(load.chunked, per_pass, std::min(finest, max_states / static_cast<double>(places)));
  // Standard deviation of the iterations of a request, divided by the passes that a prompt takes.
  const double passes = load.chunked.tokens / std::max(load.chunked.room(places - 1), 1.0);
  const auto [iterations, variation] = checked_iterations(load, places);
  const double moved = variation * iterations / passes;
  const double at_random = passes > 0.5 ? -std::expm1(-moved) : 1.0;
  if (at_random == 0.0) return backlog_in_step(load, places);
  auto backlog = prompt_backlog(load.chunked.tokens, places, parts, [&](std::int64_t prompts, double /*tokens*/) {
    const std::int64_t batch = places - prompts;
    const double ends = batch > 0 ? std::min(1.0 / checked_iterations(load, batch).mean, 1.0) : 0.0;
    return BacklogPass{.room = load.chunked.room(batch), .arrivals = binomial_pmf(batch, ends)};
  });
  if (at_random == 1.0) return backlog;
  for (BacklogShare& state : backlog) state.share *= at_random;
  for (BacklogShare state : backlog_in_step(load, places)) {
    state.share *= 1.0 - at_random;
    backlog.push_back(state);
  }
  return backlog;
}

ClosedLoop chunked_in_places(const ServedLoad& load, std::int64_t places) {
  IterationParts sum;
  double requests = 0.0;   // that end in a pass
  double sequences = 0.0;  // in a pass
  double iterations = 0.0;
  double reading_us = 0.0;  // prompts times the time of their passes
  double decoding_us = 0.0;
  for (const BacklogShare& state : backlog_of_places(load, places)) {
    if (state.share < rare_pass) continue;
    const std::int64_t batch = places - state.prompts;
    const double read = std::clamp(load.chunked.room(batch), 0.0, state.tokens);
    const IterationParts pass = checked_iteration(load, batch, read);
    add(sum, state.share, pass);
    reading_us += state.share * pass.total() * static_cast<double>(state.prompts);
    if (batch == 0) continue;
    iterations += state.share;
    sequences += state.share * static_cast<double>(batch);
    decoding_us += state.share * pass.total() * static_cast<double>(batch);
    requests += state.share * static_cast<double>(batch) / checked_iterations(load, batch).mean;
  }
  return {.requests_per_us = requests / sum.total(),
          .batch = sequences / iterations,
          .decoding = decoding_us / sum.total(),
          .iteration_us = sum.total() / iterations,
          .ttft_us = reading_us / requests,
          .decode_us = decoding_us / requests,
          .parts = sum};
}

}  // namespace

ClosedLoop closed_loop(const ServedLoad& load, std::int64_t places) {
  return reads_in_chunks(load) ? chunked_in_places(load, places) : alone_in_places(load, places);
}

}  // namespace foredraft::analytic
