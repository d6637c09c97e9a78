// SPDX-License-Identifier: Apache-2.0
#include "answers/validation.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "gpu_bench/run/cell_plan.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/surfaces/cost_surface.hpp"

namespace foredraft::answers {
namespace {

using gpu_bench::LoopCell;
using gpu_bench::PlannedPair;
using latency::Profile;
using latency::Role;
using Counts = std::vector<std::int64_t>;

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

/// Integers at one third and two thirds of the way from each measured one to the next; none between successive ones.
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

/// Batch sizes and context lengths for a grid: between the measured ones, else the measured ones.
struct FreeCounts {
  Counts batches, contexts;
};

/// nullopt if there is a value neither between measured batch sizes nor between measured context lengths.
std::optional<FreeCounts> free_counts(const Profile& profile, const std::string& target,
                                      const latency::Setting& setting) {
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
  if (counts.batches.empty() && counts.contexts.empty()) return std::nullopt;
  if (counts.batches.empty()) counts.batches.assign(batches.begin(), batches.end());
  if (counts.contexts.empty()) counts.contexts.assign(contexts.begin(), contexts.end());
  return counts;
}

std::string no_free_counts(const std::string& target) {
  return fmt::format(
      "the profile has {} at one batch and one context, or at neighbors (every loop there consists of passes that were "
      "measured) - calibrate with e.g. --batch 1,4 --context 0,512, or give --batch and --context",
      target);
}

/// Why a loop cannot verify drafts of this pair: its vocabularies differ, so it was calibrated only for its times.
/// nullopt: it can.
std::optional<std::string> why_no_loop(const PlannedPair& pair) {
  const std::vector<latency::ModelShape>& models = latency::model_registry();
  const std::int64_t target = latency::find_model(models, pair.target.name).vocabulary;
  const std::int64_t drafter = latency::find_model(models, pair.drafter.name).vocabulary;
  if (target == drafter) return std::nullopt;
  return fmt::format("no loop decodes with {} from {}: vocabularies of {} and {} tokens - name another pair",
                     pair.target.name, pair.drafter.name, target, drafter);
}

/// Why the profile cannot predict a cell; nullopt: it can.
std::optional<std::string> why_not_predicted(const LoopCell& cell, const Profile& profile) {
  try {
    static_cast<void>(predict_cell(cell, profile));
  } catch (const DomainError& error) {
    return error.what();
  }
  return std::nullopt;
}

LoopCell cell_of(const PlannedPair& pair, const latency::Setting& setting) {
  return {.target = pair.target.name,
          .drafter = pair.drafter.name,
          .drafting = pair.drafting,
          .dtype = setting.dtype,
          .launch = setting.launch};
}

/// Combinations that use the values of each list about equally often, with no two lists correlated.
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

/// The default cells of a pair that the profile can predict; why it cannot predict others goes into `reasons`.
std::vector<LoopCell> predicted_cells(LoopCell cell, FreeCounts counts, std::size_t count, const Profile& profile,
                                      std::set<std::string>& reasons) {
  const auto unpredicted = [&](const LoopCell& asked) {
    const std::optional<std::string> why = why_not_predicted(asked, profile);
    if (why) reasons.insert(*why);
    return why.has_value();
  };
  cell.gamma = default_gammas.front();
  cell.alpha = default_alphas.front();
  std::erase_if(counts.batches, [&](std::int64_t batch) {
    cell.batch = batch;
    return std::ranges::all_of(counts.contexts, [&](std::int64_t context) {
      cell.context = context;
      return unpredicted(cell);
    });
  });
  std::erase_if(counts.contexts, [&](std::int64_t context) {
    cell.context = context;
    return std::ranges::all_of(counts.batches, [&](std::int64_t batch) {
      cell.batch = batch;
      return unpredicted(cell);
    });
  });
  if (counts.batches.empty() || counts.contexts.empty()) return {};
  std::vector<LoopCell> cells = spread_cells(cell, counts, count);
  std::erase_if(cells, unpredicted);
  return cells;
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
                  .why = "that does not test values in between",
                  .suggestion = "choose another --batch or --context"});
  }
  problems.raise();
}

}  // namespace

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

ValidationGrid validation_cells(const Profile& profile, const GridRequest& request) {
  const bool asked = request.gammas || request.alphas || request.batches || request.contexts;
  std::vector<LoopCell> cells;
  std::set<std::string> left_out;
  for (const PlannedPair& pair : request.pairs) {
    if (std::optional<std::string> why = why_no_loop(pair)) {
      left_out.insert(std::move(*why));
      continue;
    }
    const latency::Setting setting = latency::setting_for(profile, pair.target.name);
    const LoopCell cell = cell_of(pair, setting);
    std::vector<LoopCell> more;
    if (request.batches && request.contexts) {
      more = all_combinations(cell, request, *request.batches, *request.contexts);
    } else {
      const std::optional<FreeCounts> counts = free_counts(profile, pair.target.name, setting);
      if (!counts) {
        if (asked) throw InputError("foredraft validate: " + no_free_counts(pair.target.name));
        left_out.insert(no_free_counts(pair.target.name));
        continue;
      }
      const std::size_t of_pair = std::max(min_cells_a_pair, (min_cells - 1) / request.pairs.size() + 1);
      more = asked ? all_combinations(cell, request, request.batches.value_or(Counts{counts->batches.front()}),
                                      request.contexts.value_or(Counts{counts->contexts.front()}))
                   : predicted_cells(cell, *counts, of_pair, profile, left_out);
    }
    cells.insert(cells.end(), more.begin(), more.end());
  }
  if (cells.empty()) {
    ProblemList problems("foredraft validate");
    for (const std::string& why : left_out) problems.add({.text = why});
    problems.raise();
  }
  reject_calibrated(profile, cells);
  return {.cells = std::move(cells), .left_out = {left_out.begin(), left_out.end()}};
}

}  // namespace foredraft::answers
