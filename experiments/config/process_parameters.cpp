// SPDX-License-Identifier: Apache-2.0
#include "analytic/tokens/token_law.hpp"
#include "experiments/config/parameter_building.hpp"
#include "sim/drafter/drafter_registry.hpp"

namespace foredraft::experiments::building {
namespace {

constexpr double longest_draft = 1e6;  // each simulated block counts every position

Used with_process(std::vector<std::string> names) {
  return [names = std::move(names)](const Usage& usage) {
    return process(usage) && std::any_of(names.begin(), names.end(),
                                         [&](const std::string& name) { return usage.takes("process", name); });
  };
}
/// Whether alpha is the acceptance of some drafter's drafts: not where a copy or given accuracies take its place.
bool with_alpha(const Usage& usage) {
  if (serving(usage)) return true;
  const auto drafters = usage.words.find("drafter");
  return process(usage) && usage.takes("process", "iid") && drafters != usage.words.end() &&
         std::any_of(drafters->second.begin(), drafters->second.end(), [&](const std::string& name) {
           return name != "input_copy" && !(name == "heads" && usage.states("drafter.accuracies"));
         });
}
/// A schedule takes the place of gamma.
bool with_gamma(const Usage& usage) { return !(serving(usage) && usage.states("gamma_schedule")); }
bool with_sequences(const Usage& usage) { return process(usage) && usage.states("sequence_length"); }

}  // namespace

void add_common_parameters(std::vector<Parameter>& table) {
  table.push_back(choice("fidelity", {"process", "token", "system"},
                         "accept/reject process only, real distributions, or requests and batches of a server", always,
                         store_word<Fidelity>({"process", "token", "system"},
                                              [](PointInputs& to, Fidelity value) { to.fidelity = value; })));
  table.push_back(mandatory(integer("gamma", 0, longest_draft, "drafted tokens per iteration", with_gamma,
                                    store<std::int64_t>(&PointInputs::gamma))));
  table.push_back(choice(
      "convention", {"bonus", "no_bonus"},
      "whether a fully accepted draft yields one more token (1 to gamma + 1, or 1 to gamma)", always,
      store_word<Convention>({"bonus", "no_bonus"}, [](PointInputs& to, Convention value) { to.convention = value; })));
  std::vector<std::string> drafters{"autoregressive"};  // first: the default
  for (const sim::DrafterEntry& entry : sim::drafter_registry()) {
    if (entry.name != drafters.front()) drafters.emplace_back(entry.name);
  }
  table.push_back(choice("drafter", drafters, "where drafts come from and what they cost; foredraft list drafters",
                         always, [](PointInputs& to, const Value& value) {
                           to.drafter = std::get<std::string>(value);
                           to.drafting = sim::find_drafter(to.drafter)->cost;
                         }));
}

void add_process_parameters(std::vector<Parameter>& table) {
  const std::vector<std::string> names{"iid", "positional", "beta_mixture", "markov", "trace"};
  table.push_back(
      choice("process", names, "acceptance process; foredraft list processes", process,
             store_word<ProcessKind>(names, [](PointInputs& to, ProcessKind value) { to.process = value; })));
  table.push_back(mandatory(
      real("alpha", 0, 1, "probability that a draft is accepted", with_alpha, store<double>(&PointInputs::alpha))));
  table.push_back(mandatory(real("process.a", 0, unbounded,
                                 "markov: P(accept | previous accepted); beta_mixture: first shape of Beta(a, b)",
                                 with_process({"beta_mixture", "markov"}), store<double>(&PointInputs::process_a))));
  table.push_back(mandatory(real("process.b", 0, unbounded,
                                 "markov: P(accept | previous rejected); beta_mixture: second shape of Beta(a, b)",
                                 with_process({"beta_mixture", "markov"}), store<double>(&PointInputs::process_b))));
  table.push_back(typed("process.conditional", ValueType::reals,
                        "positional: [i] draft i accepted given that all before it were", with_process({"positional"}),
                        store<std::vector<double>>(&PointInputs::conditional)));
  // Points see conditionals alone; a rising marginal was refused when the configuration was checked.
  table.push_back(typed("process.marginal", ValueType::reals, "positional: [i] draft i and all before it accepted",
                        with_process({"positional"}), [](PointInputs& to, const Value& value) {
                          to.conditional = analytic::conditional_from_marginal(std::get<std::vector<double>>(value));
                        }));
  table.push_back(
      mandatory(typed("process.file", ValueType::text, "trace: recorded outcomes or accepted counts, CSV or JSONL",
                      with_process({"trace"}), store<std::string>(&PointInputs::trace_file))));
  table.push_back(integer("process.recorded_gamma", 1, longest_draft,
                          "trace of accepted counts: drafted tokens per iteration of the recorded run",
                          with_process({"trace"}), store<std::int64_t>(&PointInputs::recorded_gamma)));
  table.push_back(real("sequence_length", 1, 1e9, "tokens of one sequence, or their mean; without it one endless text",
                       process, store<double>(&PointInputs::sequence_length)));
  table.push_back(choice(
      "end_of_sequence", {"fixed", "geometric"}, "length of a sequence: the same for all, or geometric with that mean",
      with_sequences,
      store_word<bool>({"fixed", "geometric"}, [](PointInputs& to, bool value) { to.geometric_length = value; })));
}

}  // namespace foredraft::experiments::building
