// SPDX-License-Identifier: Apache-2.0
#include "scenario/registries.hpp"

namespace foredraft::scenario {
namespace {

using CostParameter = MemberParameter<Cost>;

constexpr double longest_ms = 1e9;
constexpr Range time_ms{.maximum = longest_ms};
constexpr Range positive_ms{.minimum = 1e-9, .maximum = longest_ms};

CostParameter ratio() {
  CostParameter c = parameter<Cost, ConstantRatio>("c", ValueType::real, &ConstantRatio::c,
                                                   "draft/target time of one step; without it no speedup");
  c.required = false;
  return c;
}

CostParameter given(const std::string& name, double MeasuredTimes::*field, std::string summary, const Range& range) {
  return parameter<Cost, MeasuredTimes>(name, ValueType::real, field, std::move(summary), range);
}

template <class Alternative, class Owner>
CostParameter overhead(double Owner::*field) {
  return parameter_with_default<Cost, Alternative>("cost.overhead_ms", ValueType::real, field,
                                                   "block, roofline, measured: whatever else an iteration costs",
                                                   time_ms);
}

CostParameter once_a_sequence(const std::string& name, double MeasuredTimes::*field, std::string summary) {
  CostParameter result =
      parameter_with_default<Cost, MeasuredTimes>(name, ValueType::real, field, std::move(summary), time_ms);
  result.once_a_sequence = true;
  return result;
}

std::vector<CostParameter> measured_times() {
  return {given("cost.step_ms", &MeasuredTimes::step_ms,
                "block: a token of plain decoding, the baseline of the speedup", positive_ms),
          given("cost.draft_ms", &MeasuredTimes::draft_ms, "block: one pass of the drafter (t_d)", time_ms),
          given("cost.verify_ms", &MeasuredTimes::verify_ms, "block: one pass of the target over a draft (t_v)",
                positive_ms),
          overhead<MeasuredTimes>(&MeasuredTimes::overhead_ms),
          once_a_sequence("cost.target_encoder_ms", &MeasuredTimes::target_encoder_ms,
                          "block: the target's encoder or prefill, once a sequence; plain decoding pays it too"),
          once_a_sequence("cost.drafter_encoder_ms", &MeasuredTimes::drafter_encoder_ms,
                          "block: the drafter's encoder or prefill, once a sequence"),
          once_a_sequence("cost.fixed_ms", &MeasuredTimes::fixed_ms,
                          "block: whatever else a sequence costs under speculation alone")};
}

template <class Alternative>
std::vector<CostParameter> looked_up_parameters(const std::string& source, std::string summary) {
  const auto text = [](const std::string& name, std::string Alternative::*field, std::string what) {
    return parameter<Cost, Alternative>(name, ValueType::text, field, std::move(what));
  };
  const auto count = [](const std::string& name, std::int64_t LookedUpTimes::*field, const Range& range,
                        std::string what) {
    return parameter_with_default<Cost, Alternative>(name, ValueType::integer, field, std::move(what), range);
  };
  return {
      text(source, &LookedUpTimes::source, std::move(summary)),
      text("cost.target", &LookedUpTimes::target, "roofline, measured: the model that verifies; foredraft list models"),
      text("cost.draft", &LookedUpTimes::draft,
           "roofline, measured: the model that drafts; of heads the target itself"),
      count("cost.batch", &LookedUpTimes::batch, {.minimum = 1.0, .maximum = 65536.0},
            "roofline, measured: sequences at once"),
      count("cost.context", &LookedUpTimes::context, {.maximum = 1e6},
            "roofline, measured: tokens that each sequence already holds"),
      overhead<Alternative>(&LookedUpTimes::overhead_ms)};
}

}  // namespace

const std::vector<Member<Cost>>& costs() {
  static const std::vector<Member<Cost>> all = [] {
    std::vector<Member<Cost>> members{
        {.name = "constant_ratio",
         .summary = "a pass of the drafter takes c target steps, a verification one, whatever gamma",
         .source = "Leviathan2023, Thm. 3.8",
         .value = ConstantRatio{},
         .parameters = {ratio()}},
        {.name = "block",
         .summary = "measured times: T = encoders + fixed + iterations (draft passes t_d + t_v + overhead)",
         .source = "Xia2023, Eq. 4",
         .value = MeasuredTimes{},
         .parameters = measured_times()},
        {.name = "roofline",
         .summary = "times of passes from a data sheet: what they move and compute at the device's limits",
         .source = "Williams2009",
         .value = Roofline{},
         .parameters = looked_up_parameters<Roofline>(
             "cost.device", "roofline: a shipped data sheet, or FILE.toml; foredraft list devices")},
        {.name = "measured",
         .summary = "times of passes from a measured profile: its table, else its fit",
         .source = "ours",
         .value = Measured{},
         .parameters = looked_up_parameters<Measured>("cost.profile",
                                                      "measured: a profile of foredraft calibrate or foredraft-gpu")}};
    check_registry(members);
    return members;
  }();
  return all;
}

std::string_view name_of(const Cost& cost) { return entry_of(costs(), cost).name; }

}  // namespace foredraft::scenario
