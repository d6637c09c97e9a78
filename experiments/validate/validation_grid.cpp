// SPDX-License-Identifier: Apache-2.0
#include "experiments/validate/validation.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "analytic/tokens/acceptance_by_position.hpp"
#include "analytic/tokens/token_count.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "experiments/text/csv.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/surfaces/cost_surface.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "scenario/check_scenario.hpp"

namespace foredraft::experiments {
namespace {

using gpu_bench::LoopCell;
using gpu_bench::PlannedPair;
using latency::Profile;
using latency::Role;
using Counts = std::vector<std::int64_t>;

constexpr std::int64_t longest_measured_draft = 1023;

Role read_drafting(UserTable& table) {
  const std::string word = table.cell("drafter");
  if (word.empty()) return Role::autoregressive_drafting;
  const auto role = latency::role_of_drafter(word);
  if (role) return *role;
  table.reject("drafter", fmt::format("unknown drafter \"{}\"", word), suggestion_for(word, latency::drafter_words()));
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
               fmt::format("must have one for each of gamma={} drafts, apart by blanks", gamma));
  return std::nullopt;
}

/// Tokens per iteration that a row states otherwise than by alpha; nothing, with the problem told, where it is wrong.
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

/// The alpha of i.i.d. drafts that yield as many tokens per iteration, the only thing that acceptance does to a
/// speedup.
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
    table.reject("draft", fmt::format("invalid draft=\"{}\"", draft), "heads stand on the target: leave it empty");
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

// ---- the grid

constexpr std::size_t min_cells = 24;
constexpr std::size_t min_cells_a_pair = 8;
const Counts default_gammas{2, 3, 5, 7};
const std::vector<double> default_alphas{0.5, 0.6, 0.7, 0.8, 0.9};
constexpr std::int64_t single_gamma = 3;
constexpr double single_alpha = 0.7;

bool has_model(const Profile& profile, const std::string& model, Role role) {
  return std::ranges::any_of(profile.steps, [&](const latency::StepRow& row) {
    return row.cell.model == model && row.cell.role == role && row.timing.summary.samples > 0;
  });
}

bool has_pair(const Profile& profile, const PlannedPair& pair) {
  const bool one_by_one = pair.drafting == Role::autoregressive_drafting;
  return has_model(profile, pair.target.name, Role::decoder_pass) &&
         (has_model(profile, pair.drafter.name, pair.drafting) ||
          (one_by_one && has_model(profile, pair.drafter.name, Role::decoder_pass)));
}

/// A third and two thirds of the way from each measured count to the next; none between successive numbers.
Counts between(const std::set<std::int64_t>& measured) {
  std::set<std::int64_t> found;
  for (auto low = measured.begin(), high = low == measured.end() ? low : std::next(low); high != measured.end();
       ++low, ++high) {
    for (const std::int64_t third : {1, 2}) {
      const std::int64_t count = *low + (*high - *low) * third / 3;
      if (count > *low) found.insert(count);
    }
  }
  return {found.begin(), found.end()};
}

/// Batches and contexts of a target that a grid may use.
struct FreeCounts {
  Counts batches, contexts;
};

FreeCounts free_counts(const Profile& profile, const std::string& target, const latency::Setting& setting) {
  std::set<std::int64_t> batches;
  std::set<std::int64_t> contexts;
  for (const latency::StepRow& row : profile.steps) {
    const latency::Cell& cell = row.cell;
    const bool counts = cell.model == target && cell.role == Role::decoder_pass &&
                        latency::Setting{cell.dtype, cell.cache, cell.launch} == setting;
    if (!counts) continue;
    batches.insert(cell.batch);
    contexts.insert(cell.context);
  }
  FreeCounts counts{.batches = between(batches), .contexts = between(contexts)};
  if (counts.batches.empty() && counts.contexts.empty()) {
    throw InputError(fmt::format(
        "foredraft validate: the profile has {} at one batch and one context, or at neighbors (every loop there is "
        "made of passes that were measured) - calibrate with e.g. --batch 1,4 --context 0,512, or give --batch and "
        "--context",
        target));
  }
  if (counts.batches.empty()) counts.batches.assign(batches.begin(), batches.end());
  if (counts.contexts.empty()) counts.contexts.assign(contexts.begin(), contexts.end());
  return counts;
}

LoopCell cell_of(const PlannedPair& pair, const latency::Setting& setting) {
  return {.target = pair.target.name,
          .drafter = pair.drafter.name,
          .drafting = pair.drafting,
          .dtype = setting.dtype,
          .launch = setting.launch};
}

/// Every value of each list about equally often, and no two lists in step.
std::vector<LoopCell> spread_cells(LoopCell cell, const FreeCounts& counts, std::size_t cells) {
  std::vector<LoopCell> spread;
  for (std::size_t i = 0; i < cells; ++i) {
    cell.gamma = default_gammas[i % default_gammas.size()];
    cell.alpha = default_alphas[i % default_alphas.size()];
    cell.batch = counts.batches[i * counts.batches.size() / cells];
    cell.context = counts.contexts[(i + i / default_gammas.size()) % counts.contexts.size()];
    spread.push_back(cell);
  }
  return spread;
}

std::vector<LoopCell> all_combinations(LoopCell cell, const GridRequest& request, const Counts& batches,
                                       const Counts& contexts) {
  std::vector<LoopCell> cells;
  for (const std::int64_t context : contexts) {
    for (const std::int64_t batch : batches) {
      for (const std::int64_t gamma : request.gammas.value_or(Counts{single_gamma})) {
        for (const double alpha : request.alphas.value_or(std::vector<double>{single_alpha})) {
          cell.gamma = gamma;
          cell.alpha = alpha;
          cell.batch = batch;
          cell.context = context;
          cells.push_back(cell);
        }
      }
    }
  }
  return cells;
}

void reject_calibrated(const Profile& profile, const std::vector<LoopCell>& cells) {
  ProblemList problems("foredraft validate");
  for (const LoopCell& cell : cells) {
    if (!is_calibrated(profile, cell)) continue;
    problems.add({.text = to_text(cell) + ": the profile has measured its passes",
                  .why = "that says nothing about the model between them",
                  .suggestion = "choose another --batch or --context"});
  }
  problems.raise();
}

}  // namespace

PredictedSpeedups predict_speedups(std::string_view text, const std::string& file, const Profile& profile) {
  PredictedSpeedups found;
  std::set<LoopCell> seen;
  UserTable table(text, file, {"target", "draft", "gamma", "batch", "context", "speedup"},
                  {"alpha", "acceptance_length", "conditional", "marginal", "drafter"});
  while (table.next()) {
    MeasuredCell measured{.cell = read_cell(table, profile)};
    measured.speedup = table.positive("speedup");
    if (table.row_rejected()) continue;
    if (!seen.insert(measured.cell).second) {
      table.reject("", to_text(measured.cell) + ": given twice", "a cell has one speedup");
      continue;
    }
    try {
      found.predictions.push_back(predict_cell(measured.cell, profile));
      found.measured.push_back(std::move(measured));
    } catch (const DomainError& error) {
      table.reject("", error.what(), "");
    }
  }
  table.done("holds no speedup");
  return found;
}

std::vector<PlannedPair> pairs_in(const Profile& profile) {
  const std::vector<latency::ModelShape>& models = latency::model_registry();
  std::vector<PlannedPair> pairs = gpu_bench::default_cpu_pairs(models);
  for (PlannedPair& pair : gpu_bench::default_pairs(models)) {
    const bool known = std::ranges::any_of(pairs, [&](const PlannedPair& other) {
      return other.target.name == pair.target.name && other.drafter.name == pair.drafter.name;
    });
    if (!known) pairs.push_back(std::move(pair));
  }
  std::erase_if(pairs, [&](const PlannedPair& pair) { return !has_pair(profile, pair); });
  return pairs;
}

bool is_calibrated(const Profile& profile, const LoopCell& cell) {
  const latency::Setting setting = latency::setting_for(profile, cell.target);
  return std::ranges::any_of(profile.steps, [&](const latency::StepRow& row) {
    const latency::Cell& pass = row.cell;
    if (pass.batch != cell.batch || pass.context != cell.context) return false;
    if (latency::Setting{pass.dtype, pass.cache, pass.launch} != setting) return false;
    const bool of_target = pass.model == cell.target && pass.role == Role::decoder_pass &&
                           (pass.tokens == 1 || pass.tokens == cell.gamma + 1);
    const bool of_drafter =
        pass.model == cell.drafter &&
        ((pass.role == cell.drafting && pass.tokens == cell.gamma) ||
         (cell.drafting == Role::autoregressive_drafting && pass.role == Role::decoder_pass && pass.tokens == 1));
    return of_target || of_drafter;
  });
}

std::vector<LoopCell> validation_cells(const Profile& profile, const GridRequest& request) {
  const bool asked = request.gammas || request.alphas || request.batches || request.contexts;
  std::vector<LoopCell> cells;
  for (const PlannedPair& pair : request.pairs) {
    const latency::Setting setting = latency::setting_for(profile, pair.target.name);
    const LoopCell cell = cell_of(pair, setting);
    std::vector<LoopCell> more;
    if (request.batches && request.contexts) {
      more = all_combinations(cell, request, *request.batches, *request.contexts);
    } else {
      const FreeCounts counts = free_counts(profile, pair.target.name, setting);
      const std::size_t of_pair = std::max(min_cells_a_pair, (min_cells - 1) / request.pairs.size() + 1);
      more = asked ? all_combinations(cell, request, request.batches.value_or(Counts{counts.batches.front()}),
                                      request.contexts.value_or(Counts{counts.contexts.front()}))
                   : spread_cells(cell, counts, of_pair);
    }
    cells.insert(cells.end(), more.begin(), more.end());
  }
  reject_calibrated(profile, cells);
  return cells;
}

}  // namespace foredraft::experiments
