// SPDX-License-Identifier: Apache-2.0
#include "app/scenario_options.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "core/numbers.hpp"
#include "core/table.hpp"
#include "foredraft/scenario.hpp"
#include "inputs/devices.hpp"
#include "latency/devices/device_registry.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/models/storage.hpp"
#include "logs/log_format.hpp"
#include "scenario/costs.hpp"
#include "scenario/methods.hpp"
#include "scenario/processes.hpp"
#include "scenario/resolve.hpp"

namespace foredraft::app {

std::vector<std::string> device_names() { return texts_of(latency::device_registry(), &latency::DeviceSheet::name); }

std::vector<std::string> profile_names() {
  std::vector<std::string> names = device_names();
  for (const inputs::OperatorsText& operators : inputs::operators_texts()) names.emplace_back(operators.name);
  return names;
}

std::vector<std::string> model_names() { return texts_of(latency::model_registry(), &latency::ModelShape::name); }

std::vector<std::string> number_format_names() {
  return texts_of(latency::number_formats(), [](latency::NumberFormat format) { return to_string(format); });
}

std::vector<std::string> weight_format_names() { return latency::weight_format_words(); }

std::vector<std::string> log_format_names() { return texts_of(logs::formats(), &logs::LogFormat::name); }

std::vector<std::string> convention_names() { return scenario::find_parameter("convention")->choices; }

bool names_device(CommandLine& line) {
  if (line.has("device") && line.has("profile")) {
    line.reject("device", "mutually exclusive with --profile", "times come from one device", "remove one");
  }
  return line.has("device") || line.has("profile");
}

std::string named_device(const CommandLine& line) {
  return line.has("device") ? line.text("device").value() : line.text("profile").value();
}

std::vector<std::string> named_pair(const CommandLine& line) {
  std::vector<std::string> models;
  for (const char* option : {"target", "draft"}) {
    if (const auto name = line.text(option)) models.push_back(*name);
  }
  return models;
}

std::optional<std::string> read_drafter_word(CommandLine& line, const std::vector<std::string>& words) {
  std::optional<std::string> word = line.text("drafter");
  if (!word || std::ranges::find(words, *word) != words.end()) return word;
  line.reject("drafter", fmt::format("unknown drafter \"{}\"", *word), "",
              scenario::method_or_suggestion(*word, words));
  return std::nullopt;
}

inputs::ReadProfile read_named_device(const CommandLine& line) {
  return line.has("device") ? inputs::read_device(named_device(line)) : inputs::read_profile(named_device(line));
}

namespace {

using scenario::Node;
using scenario::Parameter;
using scenario::ValueType;

/// Parameters by family. A command uses those in its table of options.
struct StatedByOptions {
  bool OptionFamilies::*family;
  std::vector<std::string_view> parameters;
};
const std::vector<StatedByOptions> stated_by_options{
    {&OptionFamilies::draft_length, {"gamma", "convention"}},
    {&OptionFamilies::drafter, {"drafter"}},
    {&OptionFamilies::cost,
     {"c", "operations_ratio", "cost.step_ms", "cost.draft_ms", "cost.verify_ms", "cost.overhead_ms",
      "cost.verify_growth"}},
    {&OptionFamilies::acceptance,
     {"alpha", "process", "process.a", "process.b", "process.mean", "process.correlation", "process.spread",
      "process.rho", "process.conditional", "process.marginal"}},
    {&OptionFamilies::drafter_parameters,
     {"drafter.decay", "drafter.recovery", "drafter.edit_rate", "drafter.realign", "drafter.accuracies",
      "drafter.inner_gamma", "drafter.inner_alpha", "drafter.inner_c", "drafter.drafts", "drafter.costs"}},
    {&OptionFamilies::policy,
     {"policy", "policy.threshold", "policy.concentration", "policy.bias", "policy.alternatives"}}};

Node number_node(const Parameter& parameter, const std::string& text) {
  if (const auto whole = parse_whole_quantity(text); whole && parameter.type == ValueType::integer) return {0, *whole};
  if (const auto real = parse_quantity(text)) return {0, *real};
  return {0, text};
}

/// The value of an option as in a document; nullopt, with a problem, for an invalid number.
std::optional<Node> node_of(CommandLine& line, const Parameter& parameter, const std::string& text) {
  const std::string option = scenario::option_of(parameter.name);
  if (parameter.type == ValueType::choice || parameter.type == ValueType::text) return Node{0, text};
  if (parameter.type == ValueType::reals) {
    const auto entries = line.probabilities(option);
    if (!entries) return std::nullopt;
    scenario::Array list;
    for (const double entry : *entries) list.push_back({0, entry});
    return Node{0, list};
  }
  Node node = number_node(parameter, text);
  const bool whole = parameter.type == ValueType::integer;
  if (std::holds_alternative<std::string>(node.value) || (whole && std::holds_alternative<double>(node.value))) {
    line.reject(option, fmt::format("invalid value \"{}\"", text),
                whole ? "must be a whole number" : "must be a finite number");
    return std::nullopt;
  }
  return node;
}

class ScenarioReader {
 public:
  explicit ScenarioReader(CommandLine& line) : line_(line) { space_.wording = scenario::Wording::option; }

  void state(std::string_view name, scenario::Value value) {
    space_.fixed.push_back({scenario::find_parameter(name), std::move(value), 0});
  }

  void reject(std::string_view name) { rejected_.push_back(scenario::find_parameter(name)); }

  void read(std::string_view name) {
    if (name == "c" && states_times(line_)) return;
    const Parameter& parameter = *scenario::find_parameter(name);
    const std::string option = scenario::option_of(name);
    const auto text = line_.text(option);
    if (!text) return;
    const auto node = node_of(line_, parameter, *text);
    auto value = node ? read_value(parameter, *node, "--" + option, line_.problems()) : std::nullopt;
    if (value) {
      state(name, std::move(*value));
    } else {
      rejected_.push_back(&parameter);
    }
  }

  /// Sets the process from the way acceptance is stated, and the cost if times are given.
  void read_implied(bool cost) {
    if (!line_.has("process") && (line_.has("conditional") || line_.has("marginal"))) {
      state("process", std::string(scenario::name_of(AcceptanceProcess(Positional{}))));
    }
    if (!cost || !states_times(line_)) return;
    state("cost", std::string(scenario::name_of(Cost(MeasuredTimes{}))));
    line_.reject_any({"c"}, "mutually exclusive with measured times", "they set the cost of a draft", "remove one");
  }

  [[nodiscard]] std::optional<Scenario> finish() {
    // A misspelled word leaves open which options are used, so further problems would mislead.
    if (std::ranges::find(rejected_, ValueType::choice, &Parameter::type) != rejected_.end()) return std::nullopt;
    if (line_.unreadable()) return std::nullopt;
    resolve_and_check(space_, rejected_, line_.problems());
    if (!line_.problems().empty()) return std::nullopt;
    return build(usage_of(space_), space_.fixed);
  }

 private:
  CommandLine& line_;
  scenario::Space space_;
  std::vector<const Parameter*> rejected_;
};

}  // namespace

const std::vector<OptionSpec>& positional_options() {
  static const std::vector<OptionSpec> options{
      {"conditional", "a1,a2,...", "or: acceptance rate of draft i given that all drafts before it were accepted"},
      {"marginal", "m1,m2,...", "or: share of iterations that accept draft i and all before it, as engines log it"}};
  return options;
}

const std::vector<OptionSpec>& process_options() {
  static const std::vector<OptionSpec> options{
      {"process", "P", "or: beta_mixture, markov or runs; foredraft list processes", false,
       [] { return scenario::find_parameter("process")->choices; }},
      {"a", "A", "beta_mixture: first shape; markov, runs: P(accept | previous accepted)"},
      {"b", "B", "beta_mixture: second shape; markov, runs: P(accept | previous rejected)"},
      {"mean", "M", "beta_mixture, markov: mean acceptance rate; with --correlation, replaces --a and --b"},
      {"correlation", "R", "beta_mixture, markov: correlation of the acceptances of two successive drafts"},
      {"spread", "S", "runs: log odds of easy runs above the mean, of hard runs below (default 0)"},
      {"rho", "R", "runs: odds ratio of a run continuing across the bonus token (default 1)"}};
  return options;
}

OptionGroup cost_options() {
  return {"cost of an iteration: c, or measured times",
          {{"c", "C", "time of a draft step over that of a target decode step"},
           {"step-ms", "T", "measured: one decode step of the target, without speculation"},
           {"draft-ms", "T", "measured: one forward pass of the drafter"},
           {"verify-ms", "T", "measured: one forward pass of the target over a draft (verification)"},
           {"overhead-ms", "T", "measured: everything else in an iteration (default 0)"},
           {"verify-growth", "G",
            "c or measured: decode steps that each verified token after the first adds (default 0)"}}};
}

OptionGroup drafting_options() {
  return {
      "drafter and draft-length policy",
      {{"drafter", "D",
        "autoregressive (default), block, heads, mlp_speculator, input_copy, staged, horizontal_cascade, "
        "independent_drafts; foredraft list drafters",
        false, [] { return scenario::find_parameter("drafter")->choices; }},
       {"decay", "D",
        "block, heads, mlp_speculator: acceptance rate of a draft over that of the draft before it (default 1)"},
       {"recovery", "R", "mlp_speculator: share of the decay that the previous token recovers (default 0.5)"},
       {"accuracies", "a1,a2,...",
        "heads: accuracy of head i given that all heads before it were right; replaces --alpha"},
       {"edit-rate", "E", "input_copy: probability that the next token differs from the input's; replaces --alpha"},
       {"realign", "N", "input_copy: tokens decoded one by one after each edit"},
       {"inner-gamma", "K", "staged: drafts of the inner drafter in a round; --gamma is the maximum over all rounds"},
       {"inner-alpha", "A", "staged: acceptance rate of an inner draft by the draft model"},
       {"inner-c", "C", "staged: time of an inner draft step over that of a draft step"},
       {"drafts", "N", "independent_drafts: drafts of gamma tokens each; the longest accepted one is kept"},
       {"costs", "x1,x2,...", "horizontal_cascade: time of draft i over that of a draft step, at most 1"},
       {"policy", "P",
        "constant (default), plus2_minus1, optimal_stopping; confidence_threshold, rejection_probability, "
        "entropy_threshold, optimal_token_stopping; --gamma is the maximum; foredraft list policies",
        false, [] { return scenario::find_parameter("policy")->choices; }},
       {"threshold", "H",
        "drafting stops after a token with a lower confidence (confidence_threshold), if a rejection is more probable "
        "(rejection_probability), or if the square root of the entropy is larger (entropy_threshold)"},
       {"concentration", "S",
        "policies that use a confidence: acceptance rates of tokens are distributed as Beta(alpha S, (1 - alpha) S)"},
       {"bias", "B",
        "policies that use a confidence: it is the acceptance rate to the power B (default 1: calibrated)"},
       {"alternatives", "N",
        "entropy_threshold: other tokens, which share the remaining probability equally (default 10)"}}};
}

bool states_times(const CommandLine& line) {
  constexpr std::array times{"step-ms", "draft-ms", "verify-ms", "overhead-ms"};
  return std::ranges::any_of(times, [&](const char* time) { return line.has(time); });
}

std::optional<Scenario> read_scenario(CommandLine& line, const std::vector<StatedValue>& stated,
                                      const OptionFamilies& read) {
  ScenarioReader reader(line);
  for (const StatedValue& value : stated) {
    if (value.value) {
      reader.state(value.parameter, *value.value);
    } else {
      reader.reject(value.parameter);
    }
  }
  reader.read_implied(read.cost);
  for (const auto& [family, parameters] : stated_by_options) {
    if (!(read.*family)) continue;
    for (const std::string_view name : parameters) {
      if (std::ranges::find(stated, name, &StatedValue::parameter) == stated.end()) reader.read(name);
    }
  }
  return reader.finish();
}

}  // namespace foredraft::app
