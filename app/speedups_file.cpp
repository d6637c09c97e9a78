// SPDX-License-Identifier: Apache-2.0
#include "app/validation.hpp"

#include <fmt/format.h>
#include <optional>
#include <set>
#include <sstream>

#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/csv.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "latency/surfaces/cost_surface.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/check.hpp"
#include "scenario/methods.hpp"

namespace foredraft::app {
namespace {

using gpu_bench::LoopCell;
using latency::Profile;
using latency::Role;

constexpr std::int64_t longest_measured_draft = 1023;

Role read_drafting(UserTable& table) {
  const std::string word = table.cell("drafter");
  if (word.empty()) return Role::autoregressive_drafting;
  const auto role = latency::role_of_drafter(word);
  if (role) return *role;
  table.reject("drafter", fmt::format("unknown drafter \"{}\"", word),
               scenario::method_or_suggestion(word, latency::drafter_words()));
  return Role::autoregressive_drafting;
}

/// Entries separated by blanks.
std::optional<std::vector<double>> read_vector(UserTable& table, std::string_view column, std::int64_t gamma) {
  std::vector<double> entries;
  std::istringstream words(table.cell(column));
  for (std::string word; words >> word;) {
    const auto entry = parse_quantity(word);
    if (!entry || !(*entry >= 0.0 && *entry <= 1.0)) {
      table.reject(std::string(column), fmt::format("invalid entry \"{}\"", word), "must lie in [0, 1]");
      return std::nullopt;
    }
    entries.push_back(*entry);
  }
  if (static_cast<std::int64_t>(entries.size()) >= gamma) return entries;
  table.reject(std::string(column), fmt::format("has {} entries", entries.size()),
               fmt::format("must have one for each of gamma={} drafts, separated by blanks", gamma));
  return std::nullopt;
}

/// Tokens per iteration of a row that does not state alpha; nullopt, with a problem, if invalid.
std::optional<double> read_tokens(UserTable& table, std::string_view column, std::int64_t gamma) {
  if (column == "acceptance_length") {
    const double tokens = table.positive(column);
    const auto maximum = static_cast<double>(max_tokens(gamma, Convention::bonus));
    if (table.row_rejected() || (tokens >= 1.0 && tokens <= maximum)) return tokens;
    table.reject(std::string(column), fmt::format("invalid acceptance_length={}", table.cell(column)),
                 fmt::format("must lie in [1, {}] at gamma {}", maximum, gamma));
    return std::nullopt;
  }
  std::optional<std::vector<double>> entries = read_vector(table, column, gamma);
  if (!entries) return std::nullopt;
  if (column == "conditional") {
    entries = analytic::marginal_from_conditional(*entries);
  } else if (scenario::first_rise(*entries)) {
    table.reject("marginal", "rises", "a marginal is P(this draft and all before it accepted); use conditional");
    return std::nullopt;
  }
  return analytic::tokens_per_iteration(*entries, gamma, Convention::bonus);
}

/// The alpha of i.i.d. drafts with the same tokens per iteration, which is all that a speedup depends on.
double read_acceptance(UserTable& table, std::int64_t gamma) {
  std::vector<std::string_view> stated;
  for (const std::string_view column : {"alpha", "acceptance_length", "conditional", "marginal"}) {
    if (!table.cell(column).empty()) stated.push_back(column);
  }
  if (stated.size() != 1) {
    table.reject("alpha", stated.empty() ? "missing" : fmt::format("mutually exclusive with {}", stated.back()),
                 "a row has one of alpha, acceptance_length, conditional and marginal");
    return 0.0;
  }
  if (stated.front() == "alpha") return table.probability("alpha");
  const std::optional<double> tokens = read_tokens(table, stated.front(), gamma);
  if (!tokens || table.row_rejected()) return 0.0;
  return analytic::alpha_from_acceptance_length(*tokens, gamma, Convention::bonus);
}

LoopCell read_cell(UserTable& table, const Profile& profile) {
  LoopCell cell;
  cell.target = table.name("target");
  cell.drafting = read_drafting(table);
  const std::string draft = table.cell("draft");
  if (cell.drafting != Role::head_drafting) {
    cell.drafter = table.name("draft");
  } else if (draft.empty() || draft == cell.target) {
    cell.drafter = cell.target;
  } else {
    table.reject("draft", fmt::format("invalid draft=\"{}\"", draft), "heads are part of the target: leave it empty");
  }
  const latency::Setting setting = latency::setting_for(profile, cell.target);
  cell.dtype = setting.dtype;
  cell.launch = setting.launch;
  cell.gamma = table.count("gamma", 1, longest_measured_draft);
  cell.alpha = read_acceptance(table, cell.gamma);
  cell.batch = table.count("batch", 1);
  cell.context = table.count("context", 0);
  return cell;
}

}  // namespace

PredictedSpeedups predict_speedups(std::string_view text, const std::string& file, const Profile& profile) {
  PredictedSpeedups found;
  std::set<LoopCell> seen;
  UserTable table(text, file, {"target", "draft", "gamma", "batch", "context", "speedup"},
                  {"alpha", "acceptance_length", "conditional", "marginal", "drafter"});
  while (table.next()) {
    answers::MeasuredCell measured{.cell = read_cell(table, profile)};
    measured.speedup = table.positive("speedup");
    if (table.row_rejected()) continue;
    if (!seen.insert(measured.cell).second) {
      table.reject("", to_text(measured.cell) + ": given twice", "a cell has one speedup");
      continue;
    }
    try {
      found.predictions.push_back(answers::predict_cell(measured.cell, profile));
      found.measured.push_back(std::move(measured));
    } catch (const DomainError& error) {
      table.reject("", error.what(), "");
    }
  }
  table.done("holds no speedup");
  return found;
}

}  // namespace foredraft::app
