// SPDX-License-Identifier: Apache-2.0
#include "scenario/server.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/family.hpp"

namespace foredraft::scenario {
namespace {

constexpr std::int64_t largest_batch = std::int64_t{1} << 32U;
constexpr double longest_length = 1e9;

}  // namespace

std::vector<std::int64_t> gamma_by_batch(std::span<const GammaRange> schedule, std::int64_t max_batch,
                                         Convention convention) {
  std::vector<std::int64_t> gamma(1);
  std::int64_t next = 1;
  for (const GammaRange& range : schedule) {
    if (range.from_batch != next || range.to_batch < range.from_batch || range.to_batch > largest_batch) {
      throw DomainError(
          fmt::format("invalid gamma schedule: batches {} to {} (must start at {} and end there or later, by {})",
                      range.from_batch, range.to_batch, next, largest_batch));
    }
    check_range("gamma", range.gamma, min_gamma(convention), max_serving_gamma);
    for (std::int64_t batch = next; batch <= std::min(range.to_batch, max_batch); ++batch) gamma.push_back(range.gamma);
    next = range.to_batch + 1;
  }
  if (next <= max_batch) {
    throw DomainError(
        fmt::format("invalid gamma schedule: ends at batch {} (must reach max_batch={})", next - 1, max_batch));
  }
  gamma.front() = gamma[1];
  return gamma;
}

std::vector<GammaRange> gamma_of_batches(const Server& server, std::int64_t gamma) {
  if (!server.gamma_schedule.empty()) return server.gamma_schedule;
  return {{1, server.max_batch, gamma}};
}

bool serves(const AcceptanceProcess& acceptance) { return !std::holds_alternative<Markov>(acceptance); }

bool goes_with(const AcceptanceProcess& acceptance, Batching batching) {
  return batching != Batching::lockstep || !needs_endless_text(acceptance);
}

void check_server_acceptance(const AcceptanceProcess& acceptance, std::int64_t longest, Batching batching,
                             Convention convention) {
  const auto reject = [&](std::string_view why) {
    throw DomainError(fmt::format("invalid acceptance={} ({})", name_of(acceptance), why));
  };
  if (!serves(acceptance)) reject("no server has it: runs of spread 0 and rho 1 are the same chain");
  if (!goes_with(acceptance, batching)) reject("does not go with batching lockstep, which throws accepted drafts away");
  if (needs_endless_text(acceptance) && convention != Convention::bonus) reject("needs the convention bonus");
  if (needs_endless_text(acceptance) && longest > max_runs_gamma) {
    reject(fmt::format("drafts of at most {} tokens", max_runs_gamma));
  }
  check_acceptance(acceptance, longest);
}

void check_token_count(std::string_view name, const TokenCount& count, std::int64_t shortest) {
  const double least = count.geometric ? std::max(1.0, static_cast<double>(shortest)) : static_cast<double>(shortest);
  if (!(count.tokens >= least && count.tokens <= longest_length)) {
    throw DomainError(fmt::format("invalid {}={} (must lie in {} to {})", name, count.tokens, least, longest_length));
  }
  if (count.geometric) {
    if (count.spread != 0) {
      throw DomainError(fmt::format("invalid {} spread={} (must be 0 for geometric lengths)", name, count.spread));
    }
    return;
  }
  if (count.tokens != std::floor(count.tokens)) {
    throw DomainError(fmt::format("invalid {}={} (must be whole unless lengths are geometric)", name, count.tokens));
  }
  check_range(fmt::format("{} spread", name), count.spread, 0, static_cast<std::int64_t>(count.tokens) - shortest);
}

}  // namespace foredraft::scenario
