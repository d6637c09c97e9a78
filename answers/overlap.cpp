// SPDX-License-Identifier: Apache-2.0
#include "answers/overlap.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

#include "analytic/cost/overlapped_drafting.hpp"
#include "core/json_values.hpp"
#include "sim/process/overlapped_drafting.hpp"

namespace foredraft::answers {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t overlap_runs = 100'000;
constexpr std::uint64_t overlap_seed = 1;
constexpr std::int64_t longest_stage = 1'000;

OverlapRow overlap_row(OverlappedDrafting drafting) {
  OverlapRow row{.drafting = drafting,
                 .speedup = analytic::speedup(drafting),
                 .simulated = {},
                 .best_gamma = 0,
                 .best_speedup = 0.0,
                 .target_servers = {}};
  if (drafting.alpha < 1.0) {
    row.simulated = sim::overlapped_speedup(drafting, overlap_runs, {.seed = overlap_seed, .point = 0});
  }
  if (drafting.schedule == Overlap::dsi && !drafting.shared)
    row.target_servers = analytic::max_target_servers(drafting);
  for (drafting.gamma = 1; drafting.gamma <= longest_stage; ++drafting.gamma) {
    const double speedup = analytic::speedup(drafting);
    if (!(speedup > row.best_speedup)) continue;
    row.best_gamma = drafting.gamma;
    row.best_speedup = speedup;
  }
  return row;
}

std::string_view word_of(Overlap schedule) {
  return schedule == Overlap::none ? "none" : schedule == Overlap::pearl ? "pearl" : "dsi";
}

}  // namespace

std::vector<OverlapRow> overlap_rows(double alpha, std::int64_t gamma, double c) {
  std::vector<OverlapRow> rows;
  for (const auto& [schedule, shared] : {std::pair{Overlap::none, false},
                                         {Overlap::pearl, false},
                                         {Overlap::pearl, true},
                                         {Overlap::dsi, false},
                                         {Overlap::dsi, true}}) {
    rows.push_back(overlap_row({.schedule = schedule, .alpha = alpha, .gamma = gamma, .c = c, .shared = shared}));
  }
  return rows;
}

Json to_json(std::span<const OverlapRow> rows) {
  Json json = Json::array();
  for (const OverlapRow& row : rows) {
    Json simulated;
    if (row.simulated) simulated = estimate_json(*row.simulated);
    json.push_back({{"schedule", word_of(row.drafting.schedule)},
                    {"shared_device", row.drafting.shared},
                    {"gamma", row.drafting.gamma},
                    {"speedup", finite_json(row.speedup)},
                    {"simulated_speedup", std::move(simulated)},
                    {"best_gamma", row.best_gamma},
                    {"best_speedup", finite_json(row.best_speedup)},
                    {"target_servers", row.target_servers ? finite_json(*row.target_servers) : Json(nullptr)}});
  }
  return json;
}

}  // namespace foredraft::answers
