// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <cmath>

#include "core/check.hpp"
#include "core/numbers.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/models.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/field_checks.hpp"
#include "scenario/rules.hpp"

namespace foredraft::scenario {
namespace {

/// True if a model, or a stage, drafts one position of the text each.
bool has_model_per_position(const Drafter& drafter) { return is<MlpSpeculator>(drafter) || is<Heads>(drafter); }

/// Throws DomainError unless rows are distributions, all of one length, and acceptances lie in [0, 1].
void check_distributions(const GivenDistributions& given) {
  check_at_least("target rows", std::ssize(given.target), 1);
  const std::size_t vocabulary = given.target.front().size();
  const auto check_rows = [&](std::string_view name, const std::vector<std::vector<double>>& rows, auto check_row) {
    if (rows.size() != given.target.size()) {
      throw DomainError(fmt::format("invalid {} rows={} (must be as many as target rows, {})", name, rows.size(),
                                    given.target.size()));
    }
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::string row = fmt::format("{}[{}]", name, k);
      if (rows[k].size() != vocabulary) {
        throw DomainError(
            fmt::format("invalid {} length={} (must be {}, as target[0])", row, rows[k].size(), vocabulary));
      }
      check_row(row, rows[k]);
    }
  };
  const auto sums_to_one = [](const std::string& name, const std::vector<double>& row) {
    check_distribution(name, row);
  };
  check_rows("target", given.target, sums_to_one);
  check_rows("draft", given.draft, sums_to_one);
  if (given.acceptance.empty() && given.replacement.empty() && given.bonus.empty()) return;
  check_rows("acceptance", given.acceptance,
             [](const std::string& name, const std::vector<double>& row) { check_probabilities(name, row); });
  check_rows("replacement", given.replacement, sums_to_one);
  if (!given.bonus.empty()) check_rows("bonus", given.bonus, sums_to_one);
}

class TokenCheck : FieldChecks {
 public:
  explicit TokenCheck(const FieldChecks& checks) : FieldChecks(checks) {}

  void check(const TokenFidelity& token) {
    const DrafterMember& drafter = entry_of(drafters(), scenario_.drafter);
    check_drafts(drafter, drafter.token, "token");
    check_min_gamma();
    check_max_gamma(max_token_gamma, " in fidelity token", "shorten the drafts, or use fidelity = \"process\"",
                    "fidelity");
    check_temperature("temperature", token.temperature);
    if (token.draft_temperature) check_temperature("draft_temperature", *token.draft_temperature);
    check_number("top_k", token.truncation.top_k);
    check_number("top_p", token.truncation.top_p);
    check_number("draft_top_k", token.draft_truncation.top_k);
    check_number("draft_top_p", token.draft_truncation.top_p);
    if (drafter.text && !is<NgramModels>(token.models)) {
      reject("drafter", fmt::format("{} needs text in fidelity token", drafter.name),
             "synthetic distributions write none", "set models.kind = \"ngram\"", "models.kind");
    }
    if (drafter.text) check_positions(drafter);
    if (const auto* first = std::get_if<LookupFirst>(&scenario_.drafter);
        first != nullptr && first->least > first->match) {
      invalid("drafter.least", first->least, fmt::format("must be at most {}, {}", name("drafter.match"), first->match),
              {}, "drafter.match");
    }
    if (is<LookupFirst>(scenario_.drafter) || is<StagedLookup>(scenario_.drafter)) check_operations(drafter);
    std::visit([&](const auto& models) { check_models(models, token); }, token.models);
  }

  void check_rule(const Rule& rule, std::int64_t vocabulary) {
    const std::size_t before = problems_.size();
    check_ranges_of("rule", rules(), rule);
    if (problems_.size() > before) return;
    if (const auto* sigmoid = std::get_if<SigmoidApproximation>(&rule)) check_scale(*sigmoid);
    const auto* best = std::get_if<TopBeta>(&rule);
    if (best != nullptr && vocabulary > 0 && best->top_beta > vocabulary) {
      invalid("rule.top_beta", best->top_beta, fmt::format("must be at most the vocabulary, {} tokens", vocabulary),
              list_of_rules, "models.vocabulary");
    }
  }

 private:
  void check_temperature(std::string_view field, double temperature) {
    const std::size_t before = problems_.size();
    check_number(field, temperature);
    if (problems_.size() > before || temperature == 0.0 || temperature >= min_temperature) return;
    invalid(field, temperature, fmt::format("must be 0 or at least {}", min_temperature),
            "use 0 for the most probable token");
  }

  /// The distributions are those of the models at one temperature.
  void check_same_sampling(const TokenFidelity& token, std::string_view why) {
    if (token.draft_temperature.value_or(token.temperature) != token.temperature) {
      invalid("draft_temperature", *token.draft_temperature, why);
    }
    const auto check_kept = [&](std::string_view rank, std::string_view mass, const Truncation& truncation) {
      if (truncation.top_k > 0) invalid(rank, truncation.top_k, why);
      if (truncation.top_p < 1.0) invalid(mass, truncation.top_p, why);
    };
    check_kept("top_k", "top_p", token.truncation);
    check_kept("draft_top_k", "draft_top_p", token.draft_truncation);
  }

  void check_positions(const DrafterMember& drafter) {
    if (!has_model_per_position(scenario_.drafter) || scenario_.gamma <= max_ngram_heads) return;
    invalid("gamma", scenario_.gamma,
            fmt::format("at most {}: {} has a model for each position", max_ngram_heads, drafter.name), {}, "drafter");
  }

  void check_models(const SyntheticModels& models, const TokenFidelity& token) {
    check_number("models.vocabulary", models.vocabulary);
    check_number("models.pool", models.pool);
    check_number("models.parameter", models.parameter);
    // Beyond these, weights leave the range of a float.
    if (models.target == TargetDistribution::zipf && models.parameter > 100.0) {
      invalid("models.parameter", models.parameter, "must be at most 100 for zipf", {}, "models.target");
    } else if (models.target == TargetDistribution::dirichlet && models.parameter < 1e-6) {
      invalid("models.parameter", models.parameter, "must be at least 1e-6 for dirichlet", {}, "models.target");
    }
    check_number("models.alpha", models.alpha);
    check_rule(token.rule, models.vocabulary);
  }

  void check_models(const GivenModels& models, const TokenFidelity& token) {
    if (!models.distributions) return reject("models.kind", "no distributions are given");
    const GivenDistributions& given = *models.distributions;
    reject_thrown("models.kind", [&] { check_distributions(given); });
    check_rule(token.rule, given.target.empty() ? 0 : std::ssize(given.target.front()));
    if (given.acceptance.empty()) return;
    constexpr std::string_view why = "must be 1 for a rule that was worked out for the rows as they are";
    if (token.temperature != 1.0) invalid("temperature", token.temperature, why);
    check_same_sampling(token, "not used with a rule that was worked out for the rows as they are");
  }

  void check_models(const NgramModels& models, const TokenFidelity& token) {
    check_number("models.vocabulary", models.vocabulary);
    check_number("models.target_order", models.target_order);
    check_number("models.draft_order", models.draft_order);
    if (is<MlpSpeculator>(scenario_.drafter) && models.draft_order == max_ngram_order) {
      invalid("models.draft_order", models.draft_order,
              fmt::format("at most {}: a stage sees one token more: the draft before", max_ngram_order - 1), {},
              "drafter");
    }
    if (models.corpus.empty()) reject("models.corpus", "empty list", "must name at least one");
    check_rule(token.rule, 0);
    check_same_sampling(token, "not used with n-gram models: text is drawn from whole distributions");
    if (token.temperature != 0.0 && token.temperature != 1.0) {
      return invalid("temperature", token.temperature, "must be 0 or 1 for n-gram models",
                     "use 0 or 1, or models.kind = \"synthetic\"", "models.kind");
    }
    check_text_rule(token.rule, token.temperature);
  }

  void check_text_rule(const Rule& rule, double temperature) {
    const bool greedy = is<GreedyMatch>(rule);
    if (!greedy && !is<RejectionSampling>(rule)) {
      invalid("rule", name_of(rule), "must be rejection_sampling or greedy_match for n-gram models", list_of_rules,
              "models.kind");
    } else if (greedy && temperature != 0.0) {
      invalid("rule", name_of(rule),
              fmt::format("must be rejection_sampling for n-gram models at temperature {}: matching the most probable "
                          "token is greedy decoding",
                          temperature),
              list_of_rules, "temperature");
    }
  }

  void check_scale(const SigmoidApproximation& rule) {
    if (rule.bits != 16 && rule.bits != 32 && rule.bits != 64) {
      return invalid("rule.bits", rule.bits, "must be 16, 32 or 64", list_of_rules);
    }
    const auto rounded = [&](double value) {
      if (rule.bits == 16) return round_to_half(value);
      return rule.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value;
    };
    const double low = rounded(rule.scale_low);
    const double high = rounded(rule.scale_high);
    if (!(low < high)) {
      invalid("rule.scale_low", rule.scale_low,
              fmt::format("must be below rule.scale_high={} in {} bits", rule.scale_high, rule.bits), list_of_rules,
              "rule.scale_high");
    } else if (std::isinf(low)) {
      invalid("rule.scale_low", rule.scale_low, "must lie within 65504 of 0 in 16 bits", list_of_rules, "rule.bits");
    } else if (std::isinf(high)) {
      invalid("rule.scale_high", rule.scale_high, "must lie within 65504 of 0 in 16 bits", list_of_rules, "rule.bits");
    }
  }
};

}  // namespace

void check_rule(const FieldChecks& checks, const Rule& rule, std::int64_t vocabulary) {
  TokenCheck(checks).check_rule(rule, vocabulary);
}

void check_tokens(const FieldChecks& checks, const TokenFidelity& token) { TokenCheck(checks).check(token); }

}  // namespace foredraft::scenario
