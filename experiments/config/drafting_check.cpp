// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>

#include "analytic/draft_length/optimal_stopping.hpp"
#include "experiments/config/consistency.hpp"
#include "sim/drafter/drafter_registry.hpp"
#include "sim/ngram/model.hpp"
#include "sim/process/gamma_policy.hpp"

namespace foredraft::experiments {
namespace {

class DraftingCheck {
 public:
  DraftingCheck(const SweepConfig& config, const Usage& usage, Problems& problems)
      : config_(config), usage_(usage), problems_(problems) {}

  void run() {
    for (const sim::DrafterEntry& entry : sim::drafter_registry()) {
      if (usage_.takes("drafter", entry.name)) check_drafter(entry);
    }
    for (const std::string_view policy : {"plus2_minus1", "confidence_threshold", "optimal_stopping"}) {
      if (usage_.takes("policy", policy)) check_policy(policy);
    }
    for (const CostEntry& model : cost_registry()) {
      if (model.cost_at != nullptr && usage_.takes("cost", model.name)) check_times(model.name);
    }
  }

 private:
  void refuse(std::string_view name, std::string text, std::string why, std::string suggestion) {
    report_input(config_, name, {.text = std::move(text), .why = std::move(why), .suggestion = std::move(suggestion)},
                 problems_);
  }

  [[nodiscard]] bool in_process() const { return usage_.takes("fidelity", "process"); }

  /// Whether `name` takes a word outside `legal`.
  [[nodiscard]] bool takes_other(std::string_view name, std::initializer_list<std::string_view> legal) const {
    const auto words = usage_.words.find(name);
    return words != usage_.words.end() &&
           std::any_of(words->second.begin(), words->second.end(), [&](const std::string& word) {
             return std::find(legal.begin(), legal.end(), word) == legal.end();
           });
  }

  [[nodiscard]] bool has_decay() const {
    const auto values = values_of(config_, "drafter.decay");
    return std::any_of(values.begin(), values.end(), [](const Value& value) { return std::get<double>(value) != 1.0; });
  }

  void check_drafter(const sim::DrafterEntry& entry) {
    const std::string name(entry.name);
    const bool in_batches = entry.process && name != "input_copy";
    for (const auto& [fidelity, drafts] :
         {std::pair{"process", entry.process}, {"token", entry.token}, {"system", in_batches}}) {
      if (!drafts && usage_.takes("fidelity", fidelity)) {
        refuse("drafter", fmt::format("{} does not draft in fidelity {}", name, fidelity),
               drafts ? "" : "foredraft list drafters says where each does",
               fmt::format("set fidelity = \"{}\"", entry.process ? "process" : "token"));
      }
    }
    if (entry.text && usage_.takes("fidelity", "token")) check_text_drafter(name);
    if (!in_process()) return;
    const bool own_acceptance = name == "input_copy" || (name == "heads" && usage_.states("drafter.accuracies")) ||
                                (has_decay() && (name == "block" || name == "heads" || name == "mlp_speculator"));
    if (own_acceptance && takes_other("process", {"iid"})) {
      refuse("drafter", fmt::format("{} goes with process iid alone", name),
             "it says itself how acceptance goes on behind the first draft", "use process = \"iid\"");
    }
    if (own_acceptance && usage_.takes("policy", "confidence_threshold")) {
      refuse("drafter",
             fmt::format("{} with an acceptance of its own positions under policy confidence_threshold", name),
             "the policy draws the acceptance of each token itself", "use drafter = \"autoregressive\"");
    }
    if (name == "input_copy" && takes_other("policy", {"constant"})) {
      refuse("policy", "not used by drafter input_copy", "the copy runs to gamma tokens and realigns by itself",
             "use policy = \"constant\"");
    }
    if (name == "heads" && usage_.states("drafter.accuracies") && has_decay()) {
      refuse("drafter.decay", "given beside drafter.accuracies", "the accuracies say how they fall", "remove one");
    }
  }

  void check_text_drafter(const std::string& name) {
    if (usage_.takes("models.kind", "synthetic")) {
      refuse("drafter", fmt::format("{} needs text in fidelity token", name), "synthetic distributions write none",
             "set models.kind = \"ngram\"");
    }
    if (name != "heads" && name != "mlp_speculator") return;
    refuse_above("gamma", ngram::max_heads, fmt::format("{} has a model for each position", name));
    if (name == "mlp_speculator") {
      refuse_above("models.draft_order", ngram::max_order - 1, "a stage sees one token more: the draft before");
    }
  }

  void refuse_above(std::string_view name, std::int64_t most, std::string_view why) {
    for (const Value& value : values_of(config_, name)) {
      const auto given = std::get<std::int64_t>(value);
      if (given <= most) continue;
      refuse(name, fmt::format("invalid {}={}", name, given), fmt::format("at most {}: {}", most, why), "");
      return;
    }
  }

  void check_lengths(std::string_view policy, std::int64_t longest) {
    for (const Value& value : values_of(config_, "gamma")) {
      const auto gamma = std::get<std::int64_t>(value);
      if (gamma >= 1 && gamma <= longest) continue;
      refuse("gamma", fmt::format("invalid gamma={}", gamma),
             fmt::format("must lie in [1, {}] under policy {}: the longest draft it makes", longest, policy), "");
      return;
    }
  }

  void check_policy(std::string_view policy) {
    if (usage_.takes("fidelity", "token")) {
      refuse("policy", fmt::format("{} does not work in fidelity token", policy),
             "policies are simulated in process fidelity", "use policy = \"constant\"");
    }
    check_lengths(policy, policy == "optimal_stopping" && usage_.takes("process", "beta_mixture")
                              ? analytic::max_known_alpha_gamma
                              : sim::max_policy_gamma);
    const auto refuse_process = [&](std::string_view legal) {
      refuse("policy", fmt::format("{} does not go with this process", policy),
             fmt::format("it needs process {}", legal), "");
    };
    if (policy == "plus2_minus1" && usage_.takes("process", "trace")) refuse_process("other than trace");
    if (policy == "confidence_threshold" && takes_other("process", {"iid"})) refuse_process("iid");
    if (policy != "optimal_stopping") return;
    if (takes_other("process", {"iid", "positional", "beta_mixture"})) {
      refuse_process("iid, positional or beta_mixture");
    }
    if (!has_cost(config_)) {
      refuse("policy", "optimal_stopping without c", "it weighs the cost of a draft", "add c to [fixed] or [axes]");
    }
    if (takes_other("drafter", {"autoregressive", "mlp_speculator"})) {
      refuse("policy", "optimal_stopping with a drafter that drafts all at once", "there is nothing to stop",
             "use drafter = \"autoregressive\"");
    }
  }

  /// Of a cost that is looked up for the one draft length of a point.
  void check_times(std::string_view cost) {
    if (takes_other("policy", {"constant"})) {
      refuse("policy", fmt::format("not constant under cost {}", cost), "times are looked up for one draft length",
             "use policy = \"constant\"");
    }
    if (takes_other("drafter", {"autoregressive", "block", "heads"})) {
      refuse("drafter", fmt::format("has no times under cost {}", cost), "passes of one model are timed",
             "use autoregressive, block or heads");
    }
  }

  const SweepConfig& config_;
  const Usage& usage_;
  Problems& problems_;
};

}  // namespace

void check_drafting(const SweepConfig& config, const Usage& usage, Problems& problems) {
  DraftingCheck(config, usage, problems).run();
}

}  // namespace foredraft::experiments
