// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/inverse.hpp"
#include "app/predict/acceptance_options.hpp"
#include "app/predict/predict.hpp"
#include "app/scenario_options.hpp"
#include "app/texts/texts.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "experiments/results/manifest.hpp"

namespace foredraft::app {
namespace {

std::optional<PrintedNumber> read_measured(CommandLine& line, std::string_view option) {
  const std::string text = line.text(option).value();
  if (is_printed_number(text) && parse_printed_number(text).value > 0.0) return parse_printed_number(text);
  line.reject(option, fmt::format("invalid value \"{}\"", text), "must be a positive decimal number");
  return std::nullopt;
}

}  // namespace

bool asks_inverse(const CommandLine& line) {
  return line.has("measured-speedup") || (line.has("acceptance-length") && !line.has("c") && !states_times(line));
}

answers::InverseQuestion read_inverse(CommandLine& line) {
  answers::InverseQuestion question{.is_length = !line.has("measured-speedup")};
  const auto measured = read_measured(line, question.is_length ? "acceptance-length" : "measured-speedup");
  if (!question.is_length) {
    line.reject_any({"acceptance-length"}, "mutually exclusive with --measured-speedup", "one number is explained",
                    "give the acceptance as --alpha, --conditional or --marginal");
  }
  line.reject_any({"operations-ratio", "policy", "acceptance", "accepted-over-drafted"},
                  "not used to explain a measured number", "", "remove it");
  line.require("gamma", "the draft length at which it was measured", "e.g. --gamma 5");
  const bool has_cost = line.has("c") || states_times(line);
  const bool has_acceptance = !question.is_length && states_acceptance(line);
  question.sought = !has_acceptance ? answers::Sought::alpha
                    : has_cost      ? answers::Sought::overhead
                                    : answers::Sought::c;
  std::vector<StatedValue> stated;
  if (!has_acceptance) stated.push_back({"alpha", 0.0});
  if (!has_cost) stated.push_back({"c", 0.0});
  if (question.sought == answers::Sought::alpha && !question.is_length && !has_cost) {
    line.require("c", "or --alpha: give one, the other is solved for", "e.g. --c 0.05");
  }
  const std::optional<Scenario> scenario = read_scenario(line, stated, all_option_families);
  if (scenario && (scenario->gamma < 1 || max_tokens(scenario->gamma, scenario->convention) < 2)) {
    line.reject("gamma", fmt::format("invalid gamma={}", scenario->gamma),
                "an iteration of one token does not depend on acceptance");
  }
  line.done();
  question.scenario = scenario.value();
  question.measured = measured.value();
  return question;
}

int predict_inverse(CommandLine& line) {
  const answers::InverseQuestion question = read_inverse(line);
  print_result(line.has("json") ? experiments::document_text(to_json(question)) : to_text(question));
  return exit_done;
}

}  // namespace foredraft::app
