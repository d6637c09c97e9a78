// SPDX-License-Identifier: Apache-2.0
#include "experiments/cost/cost_definition.hpp"

namespace foredraft::experiments::costs {
namespace {

constexpr double shortest_ms = 1e-9;
constexpr double longest_ms = 1e9;

CostParameter given(std::string_view name, double minimum_ms, std::string_view summary) {
  return {.name = name,
          .default_value = std::nullopt,
          .optional = false,
          .minimum = minimum_ms,
          .maximum = longest_ms,
          .once_a_sequence = false,
          .summary = summary};
}

CostParameter further(std::string_view name, bool once_a_sequence, std::string_view summary) {
  return {.name = name,
          .default_value = 0.0,
          .optional = false,
          .minimum = 0.0,
          .maximum = longest_ms,
          .once_a_sequence = once_a_sequence,
          .summary = summary};
}

}  // namespace

CostParameter iteration_overhead() {
  return further("cost.overhead_ms", false, "block, roofline, measured: whatever else an iteration costs");
}

CostEntry block() {
  return {.name = "block",
          .summary = "measured times: T = encoders + fixed + iterations (draft passes t_d + t_v + overhead)",
          .source = "Xia2023, Eq. 4",
          .parameters =
              {given("cost.step_ms", shortest_ms, "block: a token of plain decoding, the baseline of the speedup"),
               given("cost.draft_ms", 0.0, "block: one pass of the drafter (t_d)"),
               given("cost.verify_ms", shortest_ms, "block: one pass of the target over a draft (t_v)"),
               iteration_overhead(),
               further("cost.target_encoder_ms", true,
                       "block: the target's encoder or prefill, once a sequence; plain decoding pays it too"),
               further("cost.drafter_encoder_ms", true, "block: the drafter's encoder or prefill, once a sequence"),
               further("cost.fixed_ms", true, "block: whatever else a sequence costs under speculation alone")},
          .cost = [](const CostValues& values) {
            const double step = values.at("cost.step_ms");
            const double encoder = values.at("cost.target_encoder_ms");
            return DecodingCost{
                .iteration = (values.at("cost.verify_ms") + values.at("cost.overhead_ms")) / step,
                .draft_pass = values.at("cost.draft_ms") / step,
                .sequence = (encoder + values.at("cost.drafter_encoder_ms") + values.at("cost.fixed_ms")) / step,
                .plain_sequence = encoder / step};
          }};
}

}  // namespace foredraft::experiments::costs
