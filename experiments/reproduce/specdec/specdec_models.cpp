// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/specdec/specdec_models.hpp"

#include <stdexcept>
#include <vector>

#include "analytic/cost/speedup_fit.hpp"
#include "analytic/tokens/finite_length.hpp"

namespace foredraft::experiments {
namespace {

std::size_t specdec_row(const PublishedTable& table, std::string_view column, std::string_view text) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (table.text(row, column) == text) return row;
  }
  throw std::logic_error("specdec models: a printed row is missing");
}

constexpr std::string_view profiled_model = "SpecDec++ (k = 25 high-efficiency)";

}  // namespace

analytic::BlockLatency specdec_profile() {
  const PublishedTable profile = published_table("iclr_table18");
  const PublishedTable main = published_table("iclr_table1");
  const auto module_ms = [&](std::string_view name) {
    return profile.number(specdec_row(profile, "module", name), "latency_ms").value;
  };
  const double iterations = main.number(specdec_row(main, "model", profiled_model), "iterations").value;
  return {.target_encoder_ms = module_ms("AT Encoder"),
          .drafter_encoder_ms = module_ms("NAT Encoder"),
          .draft_ms = module_ms("NAT Decoder") / iterations,
          .verify_ms = module_ms("AT Decoder") / iterations,
          .overhead_ms = 0.0,
          .fixed_ms = module_ms("Others")};
}

double specdec_beam_ms() {
  const PublishedTable profile = published_table("iclr_table18");
  const PublishedTable main = published_table("iclr_table1");
  return profile.number(specdec_row(profile, "module", "Total"), "latency_ms").value *
         main.number(specdec_row(main, "model", profiled_model), "speedup_rerun_x").value;
}

double specdec_greedy_speedup() {
  const PublishedTable main = published_table("iclr_table1");
  return main.number(specdec_row(main, "model", "AT verifier (b = 1)"), "speedup_rerun_x").value;
}

double specdec_mean_tokens() {
  const PublishedTable sizes = published_table("iclr_table5");
  const std::size_t row = specdec_row(sizes, "drafter", "NAT-base");
  return sizes.number(row, "tok").value * sizes.number(row, "iterations").value;
}

double specdec_alpha(double tokens_per_iteration, std::int64_t block) {
  return analytic::alpha_from_sentence_tokens(tokens_per_iteration, block, Convention::no_bonus, specdec_mean_tokens());
}

double specdec_tokens(double alpha, std::int64_t block) {
  return analytic::sentence_tokens_per_iteration({.alpha = alpha, .gamma = block, .convention = Convention::no_bonus},
                                                 specdec_mean_tokens());
}

analytic::Line specdec_cost_line(const PublishedTable& block_sizes) {
  std::vector<double> blocks;
  std::vector<double> costs;
  for (std::size_t row = 0; row < block_sizes.size(); ++row) {
    if (!block_sizes.is_number(row, "k")) continue;
    blocks.push_back(block_sizes.number(row, "k").value);
    costs.push_back(block_sizes.number(row, "tok").value / block_sizes.number(row, "speed_x").value);
  }
  return analytic::least_squares_line(blocks, costs);
}

double specdec_cost(const analytic::Line& line, std::int64_t block) {
  return line.intercept + line.slope * static_cast<double>(block);
}

}  // namespace foredraft::experiments
