// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/loop/loop_cell.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "core/check.hpp"

namespace foredraft::gpu_bench {

std::string to_text(const LoopCell& cell) {
  return fmt::format("{} from {} ({}) {} gamma {} alpha {} batch {} context {}", cell.target, cell.drafter,
                     to_string(cell.drafting), cell.dtype, cell.gamma, cell.alpha, cell.batch, cell.context);
}

void check_loop_cell(const LoopCell& cell) {
  const bool drafts = cell.drafting == latency::Role::autoregressive_drafting ||
                      cell.drafting == latency::Role::block_drafting || cell.drafting == latency::Role::head_drafting;
  if (!drafts) throw DomainError(fmt::format("{} is not a drafting role", to_string(cell.drafting)));
  check_at_least("gamma", cell.gamma, 1);
  check_probability("alpha", cell.alpha);
  check_at_least("batch", cell.batch, 1);
  check_at_least("context", cell.context, 0);
}

namespace {

/// 2^64 divided by the golden ratio: sums wrap around as fractions do.
constexpr std::uint64_t golden_step = 0x9E3779B97F4A7C15U;

}  // namespace

ForcedAcceptance::ForcedAcceptance(double alpha, std::int64_t gamma) {
  check_probability("alpha", alpha);
  check_at_least("gamma", gamma, 1);
  double survival = 1.0;
  for (std::int64_t draft = 0; draft < gamma; ++draft) survival_.push_back(survival *= alpha);
}

void ForcedAcceptance::next(std::span<std::int32_t> accepted) {
  for (std::int32_t& count : accepted) {
    point_ += golden_step;
    const double uniform = static_cast<double>(point_ >> 11U) * 0x1.0p-53;
    const auto first_below =
        std::find_if(survival_.begin(), survival_.end(), [uniform](double survival) { return uniform >= survival; });
    count = static_cast<std::int32_t>(first_below - survival_.begin());
  }
}

}  // namespace foredraft::gpu_bench
