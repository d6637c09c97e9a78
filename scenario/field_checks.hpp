// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "foredraft/errors.hpp"
#include "foredraft/scenario.hpp"
#include "scenario/check.hpp"
#include "scenario/drafters.hpp"
#include "scenario/family.hpp"

namespace foredraft::scenario {

template <class Alternative>
bool is(const auto& value) {
  return std::holds_alternative<Alternative>(value);
}

/// True if it is made of several drafters, or of several drafts.
inline bool is_cascade(const Drafter& drafter) {
  return is<HorizontalCascade>(drafter) || is<IndependentDrafts>(drafter) || is<StagedDrafter>(drafter);
}

inline constexpr std::string_view list_of_rules = "foredraft list rules";

/// What the parts of the check share: reports of problems, ranges, drafters and acceptance.
class FieldChecks {
 public:
  FieldChecks(const Scenario& scenario, const Space& given, std::vector<FieldProblem>& problems)
      : scenario_(scenario), given_(given), problems_(problems) {}

 protected:
  void reject(std::string_view field, std::string text, std::string why = {}, std::string suggestion = {},
              std::string_view with = {}) {
    problems_.push_back(
        {std::string(field), std::move(text), std::move(why), std::move(suggestion), std::string(with)});
  }

  void invalid(std::string_view field, const auto& value, std::string_view why, std::string_view suggestion = {},
               std::string_view with = {}) {
    reject(field, fmt::format("invalid {}={}", field, value), std::string(why), std::string(suggestion), with);
  }

  /// Reports what `check` throws.
  template <class Check>
  void reject_thrown(std::string_view field, const Check& check, std::string_view with = {}) {
    try {
      check();
    } catch (const DomainError& error) {
      reject(field, error.what(), {}, {}, with);
    }
  }

  [[nodiscard]] std::string name(std::string_view field) const { return name_for_user(given_, field); }
  [[nodiscard]] std::string use(std::string_view field, std::string_view word) const {
    return "use " + statement(given_, field, word);
  }

  // ---- Ranges.

  /// In the range that the table of parameters states.
  void check_number(std::string_view field, const Value& value) {
    const ValueRange& range = find_parameter(field)->range;
    const std::string wrong = first_outside(field, range, value);
    if (!wrong.empty()) reject(field, "invalid " + wrong, "must " + range_reason(range));
  }

  /// In the ranges of the member; those of other members that share a parameter may differ.
  template <class Entry, class Family>
  void check_ranges_of(std::string_view family, const std::vector<Entry>& registry, const Family& value) {
    const Entry& entry = entry_of(registry, value);
    for (const auto& parameter : entry.parameters) {
      const std::optional<Value> stored = parameter.get(value);
      if (!stored) continue;
      const std::string wrong = first_outside(parameter.name, parameter.range, *stored);
      if (wrong.empty()) continue;
      const bool shared = !(find_parameter(parameter.name)->range == parameter.range);
      reject(parameter.name, "invalid " + wrong,
             fmt::format("must {}{}", range_reason(parameter.range),
                         shared ? fmt::format(" for {} {}", family, entry.name) : ""),
             family == "rule" ? std::string(list_of_rules) : "");
    }
  }

  void check_max_gamma(std::int64_t longest, std::string_view where, std::string_view suggestion = {},
                       std::string_view with = {}) {
    if (scenario_.gamma <= longest) return;
    invalid("gamma", scenario_.gamma, fmt::format("must be at most {}{}", longest, where), suggestion, with);
  }

  void check_min_gamma() {
    if (scenario_.gamma < 0) return invalid("gamma", scenario_.gamma, "must be at least 0");
    if (scenario_.gamma >= min_gamma(scenario_.convention)) return;
    invalid("gamma", scenario_.gamma, "must be at least 1 without a bonus token",
            "start at 1, or " + use("convention", to_string(Convention::bonus)), "convention");
  }

  /// A list has an entry for each draft.
  void check_entries(std::string_view list, const std::vector<double>& entries, std::int64_t gamma,
                     std::string_view field) {
    const std::int64_t count = std::ssize(entries);
    if (gamma <= count) return;
    reject(field, fmt::format("invalid gamma={}", gamma), fmt::format("{} has {} entries", name(list), count),
           field == "gamma" ? fmt::format("keep gamma at or below {}, or give more entries", count)
                            : "draft less, or give more entries",
           list);
  }

  void check_drafts(const DrafterMember& drafter, bool drafts, std::string_view fidelity);

  /// In process and system fidelity. `gamma`: the longest draft, given as `field`.
  void check_acceptance(const AcceptanceProcess& process, std::int64_t gamma, std::string_view field);

  /// Rejects an operations_ratio.
  void check_operations(const DrafterMember& drafter);

  const Scenario& scenario_;
  const Space& given_;
  std::vector<FieldProblem>& problems_;

 private:
  void check_positional(const Positional& positional, std::int64_t gamma, std::string_view field);
  void check_chain(double a, double b);
  void check_endless(const AcceptanceProcess& process, std::int64_t gamma, std::string_view field);
  void check_recording(const Recording& recording);
};

/// `vocabulary` in tokens, 0: not known.
void check_rule(const FieldChecks& checks, const Rule& rule, std::int64_t vocabulary);

void check_tokens(const FieldChecks& checks, const TokenFidelity& token);
void check_server(const FieldChecks& checks, const Server& server);

}  // namespace foredraft::scenario
