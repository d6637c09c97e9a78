// SPDX-License-Identifier: Apache-2.0
#include "experiments/cli/drafting_options.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "scenario/parameters.hpp"
#include "scenario/registries.hpp"

namespace foredraft::experiments {
namespace {

std::vector<std::string> process_drafters() {
  std::vector<std::string> names;
  for (const scenario::DrafterMember& member : scenario::drafters()) {
    if (member.process) names.emplace_back(member.name);
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
  const scenario::Parameter& parameter = *scenario::find_parameter(parameter_name(table, option));
  const auto number = line.real(option, parameter.range.minimum, parameter.range.maximum);
  if (number && parameter.type == scenario::ValueType::integer &&
      *number != static_cast<double>(static_cast<std::int64_t>(*number))) {
    line.refuse(option, fmt::format("invalid {}={}", option, *number), "must be a whole number");
    return std::nullopt;
  }
  return number;
}

/// Reads the parameters of an alternative from the options of its family; those of other alternatives are refused.
template <class Family>
void read_parameters(CommandLine& line, std::string_view table, const std::vector<std::string_view>& options,
                     const scenario::Member<Family>& member, Family& value) {
  for (const std::string_view option : options) {
    const auto parameter = std::find_if(member.parameters.begin(), member.parameters.end(),
                                        [&](const auto& known) { return known.name == parameter_name(table, option); });
    if (parameter == member.parameters.end()) {
      if (line.has(option)) {
        line.refuse(option, "not used", fmt::format("{} {} has no such parameter", table, member.name));
      }
      continue;
    }
    if (parameter->required) {
      line.require(option, parameter->summary,
                   table == "policy" ? fmt::format("e.g. --{} {}", option, option == "threshold" ? "0.4" : "4") : "");
    }
    if (const auto number = read_number(line, table, option)) parameter->set(value, *number);
  }
}

void read_drafter(CommandLine& line, Scenario& scenario) {
  const std::string name = line.word("drafter", process_drafters())
                               .value_or(std::string(scenario::name_of(Drafter(AutoregressiveDrafter{}))));
  const scenario::DrafterMember& member = *find_entry(scenario::drafters(), name);
  scenario.drafter = member.value;
  read_parameters<Drafter>(line, "drafter", {"decay", "recovery", "edit-rate", "realign"}, member, scenario.drafter);
  if (const auto accuracies = line.probabilities("accuracies")) {
    auto* heads = std::get_if<Heads>(&scenario.drafter);
    if (heads == nullptr) line.refuse("accuracies", "not used", "only heads have them", "use --drafter heads");
    if (line.has("decay")) line.refuse("decay", "given beside --accuracies", "they say how they fall", "remove one");
    if (heads != nullptr) heads->accuracies = *accuracies;
  }
}

std::size_t accuracies_given(const Scenario& scenario) {
  const auto* heads = std::get_if<Heads>(&scenario.drafter);
  return heads == nullptr ? 0 : heads->accuracies.size();
}

void read_policy(CommandLine& line, Scenario& scenario) {
  const scenario::Parameter& parameter = *scenario::find_parameter("policy");
  std::vector<std::string> words = parameter.choices;
  for (const auto& alias : parameter.aliases) words.push_back(alias.first);
  std::string name = line.word("policy", words).value_or(parameter.choices.front());
  if (const auto alias = parameter.aliases.find(name); alias != parameter.aliases.end()) name = alias->second;
  Policy& policy = std::get<ProcessFidelity>(scenario.fidelity).policy;
  const scenario::PolicyMember& member = *find_entry(scenario::policies(), name);
  policy = member.value;
  read_parameters<Policy>(line, "policy", {"threshold", "concentration", "bias"}, member, policy);
  if (std::holds_alternative<ConstantGamma>(policy)) return;
  if (scenario.gamma < 1 || scenario.gamma > max_policy_gamma) {
    line.refuse("gamma", line.has("gamma") ? fmt::format("invalid gamma={}", scenario.gamma) : "missing",
                fmt::format("the longest draft of a policy: 1 to {}", max_policy_gamma), "e.g. --gamma 20");
  }
  if (std::holds_alternative<InputCopy>(scenario.drafter)) {
    line.refuse("policy", fmt::format("not used by drafter {}", scenario::name_of(scenario.drafter)),
                "the copy realigns by itself", "remove it");
  }
  const bool falls = accuracies_given(scenario) > 0 || line.has("decay");
  if (std::holds_alternative<ConfidenceThreshold>(policy) && falls) {
    line.refuse("policy", fmt::format("{} with an acceptance of the drafter's own", name),
                "the policy draws the acceptance of each token itself", "remove one");
  }
  if (!std::holds_alternative<OptimalStopping>(policy)) return;
  if (!line.has("step-ms")) line.require("c", "optimal stopping weighs the cost of a draft", "e.g. --c 0.05");
  if (scenario::drafting(scenario.drafter) != Drafting::autoregressive) {
    line.refuse("policy", fmt::format("{} with a drafter that drafts all at once", name), "there is nothing to stop");
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

void read_drafting(CommandLine& line, Scenario& scenario) {
  read_drafter(line, scenario);
  read_policy(line, scenario);
  const auto entries = static_cast<std::int64_t>(accuracies_given(scenario));
  if (entries > 0 && scenario.gamma > entries) {
    line.refuse("gamma", fmt::format("invalid gamma={}", scenario.gamma),
                fmt::format("{} accuracies are given", entries), "give more, or a smaller gamma");
  }
}

bool with_alpha(const CommandLine& line) {
  return line.text("drafter").value_or("") != scenario::name_of(Drafter(InputCopy{})) && !line.has("accuracies");
}

}  // namespace foredraft::experiments
