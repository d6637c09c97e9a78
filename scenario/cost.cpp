// SPDX-License-Identifier: Apache-2.0
#include "scenario/cost.hpp"

#include <algorithm>
#include <stdexcept>

#include "scenario/family.hpp"
#include "scenario/inputs.hpp"

namespace foredraft::scenario {
namespace {

/// Target steps of the tokens of a verification behind its first.
double grown(double verify_growth, const Scenario& scenario) {
  const std::int64_t tokens = max_tokens(scenario.gamma, scenario.convention);
  return verify_growth * static_cast<double>(std::max<std::int64_t>(tokens - 1, 0));
}

std::optional<DecodingCost> cost_of(const ConstantRatio& cost, const Scenario& scenario) {
  if (!cost.c) return std::nullopt;
  DecodingCost all = constant_ratio(*cost.c);
  all.iteration += grown(cost.verify_growth, scenario);
  return all;
}

/// [Xia2023, Eq. 4]
std::optional<DecodingCost> cost_of(const MeasuredTimes& cost, const Scenario& scenario) {
  return DecodingCost{
      .iteration = (cost.verify_ms + cost.overhead_ms) / cost.step_ms + grown(cost.verify_growth, scenario),
      .draft_pass = cost.draft_ms / cost.step_ms,
      .sequence = (cost.target_encoder_ms + cost.drafter_encoder_ms + cost.fixed_ms) / cost.step_ms,
      .plain_sequence = cost.target_encoder_ms / cost.step_ms};
}

std::optional<DecodingCost> cost_of(const LookedUpTimes& cost, const Scenario& scenario) {
  if (!cost.times) throw std::logic_error("the times of passes were not read");
  return cost.times->cost(cost, scenario.gamma, scenario.convention);
}

}  // namespace

const LookedUpTimes* looked_up(const Cost& cost) {
  if (const auto* roofline = std::get_if<Roofline>(&cost)) return roofline;
  return std::get_if<Measured>(&cost);
}

std::optional<DecodingCost> decoding_cost(const Scenario& scenario) {
  if (std::holds_alternative<Server>(scenario.fidelity)) return std::nullopt;
  return std::visit([&](const auto& cost) { return cost_of(cost, scenario); }, scenario.cost);
}

double verify_growth(const Cost& cost) {
  if (const auto* ratio = std::get_if<ConstantRatio>(&cost)) return ratio->verify_growth;
  const auto* times = std::get_if<MeasuredTimes>(&cost);
  return times == nullptr ? 0.0 : times->verify_growth;
}

bool gamma_varies(const Scenario& scenario) {
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  return (process != nullptr && !std::holds_alternative<ConstantGamma>(process->policy)) ||
         drafting(scenario.drafter) == Drafting::free;
}

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

template <class Alternative>
CostParameter growth() {
  CostParameter result = parameter_with_default<Cost, Alternative>(
      "cost.verify_growth", ValueType::real, &Alternative::verify_growth,
      "constant_ratio, block: target steps that each verified token but the first adds to a verification",
      {.maximum = 1e6});
  result.implied = true;
  return result;
}

CostParameter once_a_sequence(const std::string& name, double MeasuredTimes::*field, std::string summary) {
  CostParameter result =
      parameter_with_default<Cost, MeasuredTimes>(name, ValueType::real, field, std::move(summary), time_ms);
  result.once_a_sequence = true;
  return result;
}

std::vector<CostParameter> measured_times() {
  return {
      given("cost.step_ms", &MeasuredTimes::step_ms,
            "block: one token of autoregressive decoding, the baseline of the speedup", positive_ms),
      given("cost.draft_ms", &MeasuredTimes::draft_ms, "block: one forward pass of the drafter (t_d)", time_ms),
      given("cost.verify_ms", &MeasuredTimes::verify_ms, "block: one forward pass of the target over a draft (t_v)",
            positive_ms),
      overhead<MeasuredTimes>(&MeasuredTimes::overhead_ms),
      once_a_sequence("cost.target_encoder_ms", &MeasuredTimes::target_encoder_ms,
                      "block: the target's encoder or prefill, once a sequence; autoregressive decoding pays it too"),
      once_a_sequence("cost.drafter_encoder_ms", &MeasuredTimes::drafter_encoder_ms,
                      "block: the drafter's encoder or prefill, once a sequence"),
      once_a_sequence("cost.fixed_ms", &MeasuredTimes::fixed_ms,
                      "block: whatever else a sequence costs, only under speculation"),
      growth<MeasuredTimes>()};
}

CostParameter for_servers(CostParameter parameter) {
  parameter.in_server = true;
  return parameter;
}

template <class Alternative>
std::vector<CostParameter> looked_up_parameters(const std::string& source, std::string summary) {
  const auto text = [](const std::string& name, std::string Alternative::*field, std::string what) {
    return for_servers(parameter<Cost, Alternative>(name, ValueType::text, field, std::move(what)));
  };
  const auto count = [](const std::string& name, std::int64_t LookedUpTimes::*field, const Range& range,
                        std::string what) {
    return parameter_with_default<Cost, Alternative>(name, ValueType::integer, field, std::move(what), range);
  };
  return {
      text(source, &LookedUpTimes::source, std::move(summary)),
      text("cost.target", &LookedUpTimes::target, "roofline, measured: target model; foredraft list models"),
      text("cost.draft", &LookedUpTimes::draft, "roofline, measured: draft model; for heads the target itself"),
      count("cost.batch", &LookedUpTimes::batch, {.minimum = 1.0, .maximum = 65536.0},
            "roofline, measured: batch size"),
      count("cost.context", &LookedUpTimes::context, {.maximum = 1e6}, "roofline, measured: context length in tokens"),
      overhead<Alternative>(&LookedUpTimes::overhead_ms)};
}

/// How the models of a data sheet's times are deployed, and what is known better than what engines reach.
std::vector<CostParameter> deployment_parameters() {
  constexpr Range devices{.minimum = 1.0, .maximum = 1024.0};
  constexpr Range efficiency{.minimum = 0.01, .maximum = 1.0};
  constexpr Range time_us{.maximum = 1e9};
  constexpr Range flag{.maximum = 1.0, .whole = true};
  const auto with_default = [](const std::string& name, ValueType type, auto Roofline::*field, const Range& range,
                               const std::string& what) {
    return for_servers(parameter_with_default<Cost, Roofline>(name, type, field, "roofline: " + what, range));
  };
  const auto optional = [](const std::string& name, ValueType type, auto Roofline::*field, const Range& range,
                           const std::string& what) {
    CostParameter result = parameter<Cost, Roofline>(name, type, field, "roofline: " + what, range);
    result.required = false;
    return for_servers(std::move(result));
  };
  std::vector<CostParameter> all{
      optional("cost.target_format", ValueType::text, &Roofline::target_format, {},
               "of the target's weights: fp32, bf16, fp16, fp8, int8, int4, nvfp4, mxfp4; without it as its "
               "config.json says, else fp16"),
      optional("cost.draft_format", ValueType::text, &Roofline::draft_format, {}, "of the draft model's weights"),
      optional("cost.kv_format", ValueType::text, &Roofline::kv_format, {},
               "of both KV caches; without it as the weights, bf16 where these are narrower"),
      with_default("cost.target_tp", ValueType::integer, &Roofline::target_tp, devices,
                   "devices that share the target"),
      with_default("cost.draft_tp", ValueType::integer, &Roofline::draft_tp, devices,
                   "devices that share the draft model"),
      with_default("cost.expert_skew", ValueType::real, &Roofline::expert_skew, {.maximum = 1.0},
                   "0: tokens choose their experts independently; 1: all share them"),
      optional("cost.bandwidth_efficiency", ValueType::real, &Roofline::bandwidth_efficiency, efficiency,
               "share of the data sheet's bandwidth that the engine reaches"),
      optional("cost.compute_efficiency", ValueType::real, &Roofline::compute_efficiency, efficiency,
               "share of its matrix peak"),
      optional("cost.step_overhead_us", ValueType::real, &Roofline::step_overhead_us, time_us,
               "overhead of every forward pass beside its operators"),
      optional(
          "cost.iteration_us", ValueType::real, &Roofline::iteration_us, time_us,
          "overhead of an iteration of speculation beside its forward passes; these four without a value: what engines "
          "reach, docs/step-times.md"),
      with_default("cost.memory_utilization", ValueType::real, &Roofline::memory_utilization, efficiency,
                   "share of a device's memory for weights and KV cache"),
      with_default("cost.ignore_memory", ValueType::real, &Roofline::ignore_memory, flag,
                   "1: answer also where the deployment does not fit into memory"),
      with_default("cost.allow_vocabulary_mismatch", ValueType::real, &Roofline::allow_vocabulary_mismatch, flag,
                   "1: a draft model with other tokens than the target")};
  for (CostParameter& parameter : all) parameter.implied = true;
  return all;
}

std::vector<CostParameter> joined(std::vector<CostParameter> first, std::vector<CostParameter> second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

const std::vector<Member<Cost>>& costs() {
  static const std::vector<Member<Cost>> all = [] {
    std::vector<Member<Cost>> members{
        {.name = "constant_ratio",
         .summary =
             "a forward pass of the drafter takes c decode steps of the target, a verification one, for any gamma",
         .source = "Leviathan2023, Thm. 3.8",
         .value = ConstantRatio{},
         .parameters = {ratio(), growth<ConstantRatio>()}},
        {.name = "block",
         .summary = "measured times: T = encoders + fixed + iterations (draft passes t_d + t_v + overhead)",
         .source = "Xia2023, Eq. 4",
         .value = MeasuredTimes{},
         .parameters = measured_times()},
        {.name = "roofline",
         .summary = "forward-pass times estimated from a data sheet, at the efficiency that engines attain",
         .source = "Williams2009",
         .value = Roofline{},
         .parameters =
             joined(looked_up_parameters<Roofline>(
                        "cost.device", "roofline: a shipped data sheet, or FILE.toml; foredraft list devices"),
                    deployment_parameters())},
        {.name = "measured",
         .summary = "forward-pass times from a measured profile: its table, else its fit",
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
