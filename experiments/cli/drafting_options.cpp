// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/drafting_options.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "experiments/config/parameters.hpp"
#include "sim/drafter/drafter_registry.hpp"
#include "sim/process/gamma_policy.hpp"

namespace foredraft::experiments {
namespace {

std::vector<std::string> process_drafters() {
  std::vector<std::string> names;
  for (const sim::DrafterEntry& entry : sim::drafter_registry()) {
    if (entry.process) names.emplace_back(entry.name);
  }
  return names;
}

/// Option and parameter: "edit-rate" is drafter.edit_rate.
std::string parameter_name(std::string_view table, std::string_view option) {
  std::string name = fmt::format("{}.{}", table, option);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// The legal range of an option is that of its parameter.
std::optional<double> read_number(CommandLine& line, std::string_view table, std::string_view option) {
  const Parameter& parameter = *find_parameter(parameter_name(table, option));
  const auto number = line.real(option, parameter.minimum, parameter.maximum);
  if (number && parameter.type == ValueType::integer &&
      *number != static_cast<double>(static_cast<std::int64_t>(*number))) {
    line.refuse(option, fmt::format("invalid {}={}", option, *number), "must be a whole number");
    return std::nullopt;
  }
  return number;
}

void refuse_others(CommandLine& line, const std::vector<std::string_view>& options, const std::string& owner,
                   const auto& belongs) {
  for (const std::string_view option : options) {
    if (line.has(option) && !belongs(option)) {
      line.refuse(option, "not used", fmt::format("{} has no such parameter", owner));
    }
  }
}

void read_drafter(CommandLine& line, PointInputs& inputs) {
  inputs.drafter = line.word("drafter", process_drafters()).value_or("autoregressive");
  const sim::DrafterEntry& entry = *sim::find_drafter(inputs.drafter);
  inputs.drafting = entry.cost;
  const std::vector<std::string_view> options{"decay", "recovery", "edit-rate", "realign"};
  const auto parameter_of = [&](std::string_view option) {
    return std::find_if(entry.parameters.begin(), entry.parameters.end(), [&](const sim::DrafterParameter& parameter) {
      return parameter_name("drafter", option) == fmt::format("drafter.{}", parameter.name);
    });
  };
  refuse_others(line, options, "drafter " + inputs.drafter,
                [&](std::string_view option) { return parameter_of(option) != entry.parameters.end(); });
  for (const std::string_view option : options) {
    const auto parameter = parameter_of(option);
    if (parameter == entry.parameters.end()) continue;
    if (!parameter->default_value) line.require(option, std::string(parameter->summary));
    if (const auto number = read_number(line, "drafter", option)) {
      inputs.drafter_parameters[std::string(parameter->name)] = *number;
    } else if (parameter->default_value) {
      inputs.drafter_parameters[std::string(parameter->name)] = *parameter->default_value;
    }
  }
  if (const auto accuracies = line.probabilities("accuracies")) {
    if (inputs.drafter != "heads") line.refuse("accuracies", "not used", "only heads have them", "use --drafter heads");
    if (line.has("decay")) line.refuse("decay", "given beside --accuracies", "they say how they fall", "remove one");
    inputs.head_accuracies = *accuracies;
  }
}

void read_policy(CommandLine& line, PointInputs& inputs) {
  const Parameter& policies = *find_parameter("policy");
  std::vector<std::string> words = policies.choices;
  for (const auto& alias : policies.aliases) words.push_back(alias.first);
  std::string policy = line.word("policy", words).value_or("constant");
  if (const auto alias = policies.aliases.find(policy); alias != policies.aliases.end()) policy = alias->second;
  policies.assign(inputs, policy);
  const bool confidence = inputs.policy.kind == PolicyKind::confidence_threshold;
  refuse_others(line, {"threshold", "concentration", "bias"}, "policy " + policy,
                [&](std::string_view) { return confidence; });
  inputs.policy.start = std::get<std::int64_t>(*find_parameter("policy.start")->default_value);
  if (confidence) {
    line.require("threshold", find_parameter("policy.threshold")->summary, "e.g. --threshold 0.4");
    line.require("concentration", find_parameter("policy.concentration")->summary, "e.g. --concentration 4");
    inputs.policy.threshold = read_number(line, "policy", "threshold").value_or(0.0);
    inputs.policy.concentration = read_number(line, "policy", "concentration").value_or(1.0);
    inputs.policy.bias = read_number(line, "policy", "bias").value_or(1.0);
  }
  if (inputs.policy.kind == PolicyKind::constant) return;
  if (inputs.gamma < 1 || inputs.gamma > sim::max_policy_gamma) {
    line.refuse("gamma", line.has("gamma") ? fmt::format("invalid gamma={}", inputs.gamma) : "missing",
                fmt::format("the longest draft of a policy: 1 to {}", sim::max_policy_gamma), "e.g. --gamma 20");
  }
  if (inputs.drafter == "input_copy") {
    line.refuse("policy", "not used by drafter input_copy", "the copy realigns by itself", "remove it");
  }
  const bool falls = !inputs.head_accuracies.empty() || line.has("decay");
  if (confidence && falls) {
    line.refuse("policy", "confidence_threshold with an acceptance of the drafter's own",
                "the policy draws the acceptance of each token itself", "remove one");
  }
  if (inputs.policy.kind != PolicyKind::optimal_stopping) return;
  if (!line.has("step-ms")) line.require("c", "optimal stopping weighs the cost of a draft", "e.g. --c 0.05");
  if (inputs.drafting != Drafting::autoregressive) {
    line.refuse("policy", "optimal_stopping with a drafter that drafts all at once", "there is nothing to stop");
  }
}

}  // namespace

std::vector<OptionSpec> drafting_options() {
  return {
      {"drafter", "D", "autoregressive (default), block, heads, mlp_speculator, input_copy; foredraft list drafters"},
      {"decay", "D", "block, heads, mlp_speculator: acceptance of a draft over that of the one before (default 1)"},
      {"recovery", "R", "mlp_speculator: share of the decay that seeing the token before gives back (default 0.5)"},
      {"accuracies", "a1,a2,...", "heads: head i right given that all before it were; instead of --alpha"},
      {"edit-rate", "E", "input_copy: probability that the next token is not the input's; instead of --alpha"},
      {"realign", "N", "input_copy: tokens written one by one behind each edit"},
      {"policy", "P", "constant (default), plus2_minus1, confidence_threshold, optimal_stopping; at most --gamma"},
      {"threshold", "H", "confidence_threshold: drafting stops behind a token of confidence below it"},
      {"concentration", "S", "confidence_threshold: tokens' acceptances follow Beta(alpha S, (1 - alpha) S)"},
      {"bias", "B", "confidence_threshold: confidence is acceptance to this power (default 1: calibrated)"}};
}

void read_drafting(CommandLine& line, PointInputs& inputs) {
  read_drafter(line, inputs);
  read_policy(line, inputs);
  const auto entries = static_cast<std::int64_t>(inputs.head_accuracies.size());
  if (entries > 0 && inputs.gamma > entries) {
    line.refuse("gamma", fmt::format("invalid gamma={}", inputs.gamma), fmt::format("{} accuracies are given", entries),
                "give more, or a smaller gamma");
  }
}

bool with_alpha(const CommandLine& line) {
  return line.text("drafter").value_or("") != "input_copy" && !line.has("accuracies");
}

}  // namespace foredraft::experiments
