// SPDX-License-Identifier: Apache-2.0
#include "experiments/tree/profile_price.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "foredraft/errors.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::experiments {
namespace {

double known_us(const latency::Latency& latency, const latency::Profile& profile) {
  if (latency.inside) return latency.time_us;
  throw DomainError(fmt::format(
      "{}: this batch, context and number of nodes lie outside the domain of its fit - ask for fewer nodes, "
      "or measure more",
      profile.device.name));
}

}  // namespace

TreePrice price_from_profile(const latency::Profile& profile, const PricedPair& pair, std::int64_t nodes,
                             std::int64_t depth) {
  const latency::TimedPair& models = pair.models;
  if (const auto memory = latency::memory_limit(profile, models, pair.drafting)) {
    memory->check(pair.batch, nodes, pair.context);
  }
  const latency::PairSurface surface(profile, models.models, models.target, models.draft, pair.drafting, models.sheet);
  TreePrice price{.verification = {}, .c = 0.0, .drafting = Drafting::autoregressive};
  for (std::int64_t n = 1; n <= nodes; ++n) {
    price.verification.push_back(known_us(surface.target_pass(n, pair.batch, pair.context), profile));
  }
  const bool block = pair.drafting == latency::Role::block_drafting;
  if (block) price.drafting = Drafting::block;
  const std::int64_t drafts = block ? std::max<std::int64_t>(1, depth) : 1;
  price.c = known_us(surface.drafting(drafts, pair.batch, pair.context), profile) / price.verification.front();
  const bool heads = pair.drafting == latency::Role::head_drafting;
  price.times = fmt::format(
      "{}, source {}: {} {} at batch {}, context {}; sampling and the engine's own time not in it", profile.device.name,
      to_string(profile.source), models.target, heads ? "with heads" : "and " + models.draft, pair.batch, pair.context);
  return price;
}

}  // namespace foredraft::experiments
