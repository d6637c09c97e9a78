// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analytic/answer/answer.hpp"
#include "analytic/tokens/token_count.hpp"
#include "answers/inverse.hpp"
#include "answers/observed.hpp"
#include "answers/prediction.hpp"
#include "app/commands/commands.hpp"
#include "app/deployment_options.hpp"
#include "app/texts/texts.hpp"
#include "core/progress.hpp"
#include "core/streams.hpp"
#include "experiments/results/manifest.hpp"
#include "inputs/observed_acceptance.hpp"
#include "scenario/cost.hpp"
#include "scenario/policies.hpp"
#include "scenario/processes.hpp"

namespace foredraft::app {
namespace {

constexpr std::int64_t longest_predicted_draft = 1'000'000'000'000;

/// The ways to state how often drafts are accepted, except --process, which may be added to one.
const std::vector<std::string_view> ways_of_acceptance{
    "alpha",      "conditional", "marginal",  "acceptance-length", "accepted-over-drafted",
    "accuracies", "edit-rate",   "acceptance"};

std::ptrdiff_t stated_acceptances(const CommandLine& line) {
  return std::ranges::count_if(ways_of_acceptance, [&](std::string_view way) { return line.has(way); });
}

/// Acceptance is stated in exactly one way; whether it is stated.
bool require_one_acceptance(CommandLine& line) {
  const auto given = stated_acceptances(line);
  if (given == 0 && line.has("process")) {
    if (line.text("process") == scenario::name_of(AcceptanceProcess(Trace{}))) {
      line.reject("process", "trace has no closed form", "it is replayed",
                  "use foredraft simulate with a configuration");
      line.done();
    }
    return true;
  }
  if (given == 0) {
    line.require("alpha", "or --conditional, --marginal, --acceptance-length: how often drafts are accepted",
                 "e.g. --alpha 0.8");
  } else if (given > 1) {
    line.reject_any(ways_of_acceptance, "more than one of them", "acceptance is stated once", "keep one");
    line.done();
  }
  return given == 1;
}

/// The alpha of a measured acceptance length.
double invert_acceptance_length(CommandLine& line, const answers::Question& question, Convention convention) {
  line.require("gamma", "an acceptance length says something about alpha only at the gamma it was measured at",
               "add --gamma G");
  if (!question.gamma) return 0.0;
  const auto maximum = static_cast<double>(max_tokens(*question.gamma, convention));
  if (*question.gamma < 1 || *question.acceptance_length < 1.0 || *question.acceptance_length > maximum) {
    line.reject("acceptance-length", fmt::format("invalid acceptance-length={}", *question.acceptance_length),
                fmt::format("must lie in [1, {}] at gamma {}", maximum, *question.gamma),
                "it counts the corrected or bonus token too");
    return 0.0;
  }
  return analytic::alpha_from_acceptance_length(*question.acceptance_length, *question.gamma, convention);
}

/// The alpha of a share of accepted drafts, which a bonus token does not change.
double invert_accepted_over_drafted(CommandLine& line, const answers::Question& question) {
  if (!question.gamma || *question.gamma < 1) {
    line.require("gamma", "a share of accepted drafts says something about alpha only at the gamma it was measured at",
                 "add --gamma G");
    return 0.0;
  }
  return analytic::alpha_from_acceptance_length(
      1.0 + static_cast<double>(*question.gamma) * *question.accepted_over_drafted, *question.gamma, Convention::bonus);
}

/// What the options say, beside what is `known` already.
answers::Question read_question(CommandLine& line, const std::vector<StatedValue>& known) {
  const bool stated_acceptance = require_one_acceptance(line);
  answers::Question question;
  question.gamma = line.integer("gamma", 0, longest_predicted_draft);
  question.acceptance_length = line.real("acceptance-length", 1.0, unlimited);
  question.accepted_over_drafted = line.real("accepted-over-drafted", 0.0, 1.0);
  // A scenario has a gamma that can be simulated; here it may be longer, or be sought.
  const auto longest = static_cast<std::int64_t>(scenario::find_parameter("gamma")->range.maximum);
  std::vector<StatedValue> stated = known;
  stated.push_back({"gamma", std::min(question.gamma.value_or(1), longest)});
  if (question.acceptance_length) {
    const auto convention = parse_convention(line.text("convention").value_or("")).value_or(Convention::bonus);
    stated.push_back({"alpha", invert_acceptance_length(line, question, convention)});
  }
  if (question.accepted_over_drafted) stated.push_back({"alpha", invert_accepted_over_drafted(line, question)});
  if (!stated_acceptance) stated.push_back({"alpha", std::nullopt});
  if (const auto log = line.text("acceptance")) {
    line.reject_any({"process"}, "mutually exclusive with --acceptance", "the log tells the process", "remove one");
    stated.push_back({"process", std::string(scenario::name_of(AcceptanceProcess(Observed{})))});
    stated.push_back({"process.file", *log});
  }
  const std::optional<Scenario> scenario = read_scenario(line, stated);
  if (!scenario) return question;
  question.scenario = *scenario;
  question.scenario.gamma = question.gamma.value_or(0);
  auto* positional = std::get_if<Positional>(&std::get<ProcessFidelity>(question.scenario.fidelity).acceptance);
  if (positional != nullptr && line.has("marginal")) positional->marginal = line.probabilities("marginal").value();
  if (scenario::gamma_varies(question.scenario)) line.require("gamma", "the longest draft", "e.g. --gamma 20");
  return question;
}

/// A line for each combination of the values of --alpha and --c, the last one fastest.
std::vector<CommandLine> combinations(const CommandLine& line) {
  std::vector<CommandLine> lines{line};
  for (const char* option : {"alpha", "c"}) {
    const auto values = line.texts(option);
    if (!values || values->size() < 2) continue;
    std::vector<CommandLine> more;
    for (const CommandLine& one : lines) {
      for (const std::string& value : *values) more.emplace_back(one).replace(option, value);
    }
    lines = std::move(more);
  }
  return lines;
}

/// Puts what a log tells in the place of its name.
void read_acceptance(const CommandLine& line, answers::Question& question) {
  const auto log = line.text("acceptance");
  if (!log) return;
  question.observed = std::make_shared<const answers::FittedAcceptance>(inputs::read_fitted_acceptance(*log));
  std::get<ProcessFidelity>(question.scenario.fidelity).acceptance = answers::fitted_runs(question.observed->fit);
}

answers::Answered answer(CommandLine& line) {
  answers::Question question = read_question(line, {});
  // Under this policy the scenario's own check says so.
  if (!states_times(line) && line.text("policy") != scenario::name_of(Policy(OptimalStopping{}))) {
    line.require("c", "draft/target time of one step; or --step-ms, --draft-ms and --verify-ms", "e.g. --c 0.05");
  }
  line.done();
  read_acceptance(line, question);
  const bool varies = scenario::gamma_varies(question.scenario);
  if (varies && line.has("process") && std::isnan(analytic::answer(question.scenario).tokens_per_iteration)) {
    line.reject("process", "no closed form under this policy", "it has one of constant drafts",
                "use foredraft simulate with a configuration");
    line.done();
  }
  return {question, varies ? analytic::Prediction{} : analytic::predict(question.scenario, question.gamma)};
}

int predict_several(std::vector<CommandLine>& lines) {
  std::vector<answers::Answered> all;
  for (CommandLine& line : lines) {
    all.push_back(answer(line));
    if (scenario::gamma_varies(all.back().question.scenario)) {
      line.reject_any({"alpha", "c"}, "a list", "drafts of varying length are answered one by one", "give one value");
      line.done();
    }
  }
  print_result(lines.front().has("json") ? experiments::document_text(answers::to_json(all)) : to_text(all));
  return exit_done;
}

// ---- The other way round.

bool asks_inverse(const CommandLine& line) {
  return line.has("measured-speedup") || (line.has("acceptance-length") && !line.has("c") && !states_times(line));
}

std::optional<PrintedNumber> read_measured(CommandLine& line, std::string_view option) {
  const std::string text = line.text(option).value();
  if (is_printed_number(text) && parse_printed_number(text).value > 0.0) return parse_printed_number(text);
  line.reject(option, fmt::format("invalid value \"{}\"", text), "must be a positive decimal number as it is printed");
  return std::nullopt;
}

int predict_inverse(CommandLine& line) {
  answers::InverseQuestion question{.is_length = !line.has("measured-speedup")};
  const auto measured = read_measured(line, question.is_length ? "acceptance-length" : "measured-speedup");
  if (!question.is_length) {
    line.reject_any({"acceptance-length"}, "mutually exclusive with --measured-speedup", "one number is explained",
                    "give the acceptance as --alpha, --conditional or --marginal");
  }
  line.reject_any({"operations-ratio", "policy", "acceptance", "accepted-over-drafted"},
                  "not used where a measured number is explained", "", "remove it");
  line.require("gamma", "a measured number says something only of the draft length it was measured at",
               "e.g. --gamma 5");
  const bool has_cost = line.has("c") || states_times(line);
  const bool has_acceptance = !question.is_length && (line.has("process") || stated_acceptances(line) > 0);
  question.sought = !has_acceptance ? answers::Sought::alpha
                    : has_cost      ? answers::Sought::overhead
                                    : answers::Sought::c;
  std::vector<StatedValue> stated;
  if (!has_acceptance) stated.push_back({"alpha", 0.0});
  if (!has_cost) stated.push_back({"c", 0.0});
  if (question.sought == answers::Sought::alpha && !question.is_length && !has_cost) {
    line.require("c", "or --alpha: one of the two is sought, the other is given", "e.g. --c 0.05");
  }
  const std::optional<Scenario> scenario = read_scenario(line, stated);
  if (scenario && (scenario->gamma < 1 || max_tokens(scenario->gamma, scenario->convention) < 2)) {
    line.reject("gamma", fmt::format("invalid gamma={}", scenario->gamma), "one token says nothing of acceptance");
  }
  line.done();
  question.scenario = scenario.value();
  question.measured = measured.value();
  print_result(line.has("json") ? experiments::document_text(to_json(question)) : to_text(question));
  return exit_done;
}

int run_predict(CommandLine& line) {
  line.convert("acceptance-rate", "accepted-over-drafted", 1.0);
  const bool of_device = line.has("device") || line.has("profile") || line.has("steps-file");
  of_device ? line.convert("overhead-ms", "overhead-us", 1e3) : line.convert("overhead-us", "overhead-ms", 1e-3);
  const bool from_profile = takes_profile(line);
  line.done();  // without the times of a device that were meant, what else is missing would mislead
  if (!from_profile && asks_inverse(line)) return predict_inverse(line);
  std::vector<CommandLine> lines = combinations(line);
  if (lines.size() > 1 && line.has("acceptance")) {
    line.reject_any({"c"}, "a list", "a log is answered for one cost", "give one value");
    line.done();
  }
  if (from_profile) {
    std::vector<answers::Question> questions;
    for (CommandLine& one : lines) {
      questions.push_back(read_question(one, parameters_of_profiles(one)));
      if (lines.size() > 1) one.done();
    }
    return predict_from_profile(lines.front(), questions);
  }
  if (lines.size() > 1) return predict_several(lines);
  const answers::Answered answered = answer(line);
  const Scenario& scenario = answered.question.scenario;
  const bool varies = scenario::gamma_varies(scenario);
  if (line.has("json")) {
    print_result(experiments::document_text(varies ? answers::varying_prediction_json(scenario) : to_json(answered)));
  } else {
    print_result(varies ? varying_prediction_text(scenario) : to_text(answered));
  }
  return exit_done;
}

}  // namespace

Command predict_command() {
  return {
      {.name = "predict",
       .arguments = "--alpha A --c C [--gamma G] [options]",
       .summary = "Predicts tokens per iteration, speedup and the best draft length in closed form.",
       .options = {convention_option,
                   {"operations-ratio", "R", "operations of a draft step over those of a target decode step"},
                   {"json", "", "one JSON document, schema foredraft.predict/1"}},
       .min_positional = 0,
       .max_positional = 0,
       .examples =
           {"foredraft predict --alpha 0.8 --gamma 5 --c 0.05 --operations-ratio 0.05",
            "foredraft predict --marginal 0.74,0.49,0.305 --c 0.19 --json",
            "foredraft predict --acceptance-length 2.5 --gamma 3 --c 0.05",
            "foredraft predict --process beta_mixture --a 3 --b 1.2 --c 0.05 --verify-growth 0.02",
            "foredraft predict --acceptance vllm.log --c 0.05",
            "foredraft predict --measured-speedup 1.7 --gamma 5 --c 0.05",
            "foredraft predict --alpha 0.9 --gamma 25 --drafter block --step-ms 9 --draft-ms 10 --verify-ms 9",
            "foredraft predict --alpha 0.8 --policy plus2_minus1 --gamma 50 --c 0.05",
            "foredraft predict --device h100 --target llama-3.1-8b --draft llama-3.2-1b --alpha 0.7 --batch 1,64",
            "foredraft predict --drafter input_copy --edit-rate 0.05 --realign 2 --gamma 100 --c 0"},
       .groups =
           {{"acceptance and draft length",
             {{"alpha", "A,...", "acceptance rate of a draft, in [0, 1]; a list gives one row per value"},
              {"conditional", "a1,a2,...",
               "or: acceptance rate of draft i given that all drafts before it were accepted"},
              {"marginal", "m1,m2,...",
               "or: share of iterations that accept draft i and all before it, as engines log it"},
              {"acceptance-length", "X", "or: measured tokens per iteration at --gamma; alpha is computed from it"},
              {"accepted-over-drafted", "R", "or: accepted over drafted tokens at --gamma; alpha is computed from it"},
              {"acceptance-rate", "R", "the same, under the name that engines log"},
              {"acceptance", "FILE", "or: an engine log, or an observations file of foredraft import"},
              {"process", "P", "or: beta_mixture, markov or runs; foredraft list processes", false,
               [] { return scenario::find_parameter("process")->choices; }},
              {"a", "A", "beta_mixture: first shape; markov, runs: P(accept | previous accepted)"},
              {"b", "B", "beta_mixture: second shape; markov, runs: P(accept | previous rejected)"},
              {"mean", "M", "beta_mixture, markov: mean acceptance; with --correlation, replaces --a and --b"},
              {"correlation", "R", "beta_mixture, markov: correlation of the acceptances of two successive drafts"},
              {"spread", "S", "runs: log odds of easy runs above the mean, of hard runs below (default 0)"},
              {"rho", "R", "runs: odds ratio of a run continuing across the bonus token (default 1)"},
              {"measured-speedup", "S", "find the alpha that explains it; with --alpha the c; with both the overhead"},
              {"gamma", "G",
               "drafted tokens per iteration (default: the best); with a policy or a device the maximum"}}},
            cost_options(),
            drafting_options(),
            profile_options(),
            load_options(),
            deployment_options()}},
      run_predict};
}

}  // namespace foredraft::app
