// SPDX-License-Identifier: Apache-2.0
#include "gpu_bench/run/cell_plan.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "foredraft/errors.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/forward_passes.hpp"

namespace foredraft::gpu_bench {
namespace {

struct NamedPair {
  std::string_view target, drafter;
  latency::Role drafting;
};

/// Heads are part of the target.
constexpr NamedPair named_pairs[] = {
    {"llama-2-7b", "sheared-llama-1.3b", latency::Role::autoregressive_drafting},
    {"qwen1.5-7b", "qwen1.5-0.5b", latency::Role::autoregressive_drafting},
    {"gemma-7b", "gemma-2b", latency::Role::autoregressive_drafting},
    {"t5-xxl", "t5-small", latency::Role::autoregressive_drafting},
    {"t5-xxl", "t5-base", latency::Role::autoregressive_drafting},
    {"t5-xxl", "t5-large", latency::Role::autoregressive_drafting},
    {"whisper-large-v2", "distil-large-v2", latency::Role::autoregressive_drafting},
    {"whisper-small.en", "distil-small.en", latency::Role::autoregressive_drafting},
    {"llama-3.1-8b", "eagle-llama-3.1-8b", latency::Role::autoregressive_drafting},
    {"llama-2-7b", "llama-2-7b", latency::Role::head_drafting},
    {"transformer-base", "specdec-drafter-12-2", latency::Role::block_drafting},
    {"transformer-base", "specdec-drafter-256-1024", latency::Role::block_drafting},
    {"bart-base", "specdec-drafter-12-2", latency::Role::block_drafting},
    {"t5-large", "specdec-drafter-24-6", latency::Role::block_drafting},
    {"transformer-base", "transformer-base-12-2", latency::Role::autoregressive_drafting},
    {"transformer-big", "transformer-base-12-2", latency::Role::autoregressive_drafting},
    {"llama-2-13b", "sheared-llama-1.3b", latency::Role::autoregressive_drafting},
    {"vicuna-33b", "vicuna-33b", latency::Role::head_drafting},
    {"llama-3.1-70b", "eagle-llama-3.1-70b", latency::Role::autoregressive_drafting},
};

constexpr NamedPair named_cpu_pairs[] = {
    {"transformer-base", "transformer-base-12-2", latency::Role::autoregressive_drafting},
    {"transformer-base", "specdec-drafter-256-1024", latency::Role::block_drafting},
    {"t5-base", "t5-small", latency::Role::autoregressive_drafting},
};

/// Rejected here, before anything is measured, and not at its first cell.
PlannedModel planned(const latency::ModelShape& shape) {
  if (const auto reason = latency::why_not_runnable(shape)) {
    throw DomainError(fmt::format("{}: cannot be measured ({}) - measure another model, or predict from a data sheet",
                                  shape.name, *reason));
  }
  return {.name = shape.name,
          .source_length = shape.source_length,
          .positions = shape.positions == latency::Positions::learned ? shape.learned_positions : 0};
}

PlannedPair planned_pair(const std::vector<latency::ModelShape>& models, std::string_view target,
                         std::string_view drafter, latency::Role drafting) {
  return {.target = planned(latency::find_model(models, target)),
          .drafter = planned(latency::find_model(models, drafter)),
          .drafting = drafting};
}

latency::Role drafting_of(std::string_view target, std::string_view drafter) {
  const bool by_blocks = std::any_of(std::begin(named_pairs), std::end(named_pairs), [&](const NamedPair& pair) {
    return pair.target == target && pair.drafter == drafter && pair.drafting == latency::Role::block_drafting;
  });
  return by_blocks ? latency::Role::block_drafting : latency::Role::autoregressive_drafting;
}

std::vector<PlannedPair> planned_pairs(const std::vector<latency::ModelShape>& models,
                                       std::span<const NamedPair> named) {
  std::vector<PlannedPair> pairs;
  for (const NamedPair& pair : named) pairs.push_back(planned_pair(models, pair.target, pair.drafter, pair.drafting));
  return pairs;
}

}  // namespace

bool drafts(latency::Role role) {
  return role == latency::Role::autoregressive_drafting || role == latency::Role::block_drafting ||
         role == latency::Role::head_drafting;
}

std::vector<PlannedPair> default_pairs(const std::vector<latency::ModelShape>& models) {
  return planned_pairs(models, named_pairs);
}

std::vector<PlannedPair> default_cpu_pairs(const std::vector<latency::ModelShape>& models) {
  return planned_pairs(models, named_cpu_pairs);
}

std::vector<PlannedPair> pairs_of(const std::vector<latency::ModelShape>& models,
                                  const std::vector<std::string>& names) {
  if (names.empty()) throw DomainError("no models named - the first is the target, the others draft for it");
  std::vector<PlannedPair> pairs;
  for (std::size_t i = names.size() == 1 ? 0 : 1; i < names.size(); ++i) {
    pairs.push_back(planned_pair(models, names.front(), names[i], drafting_of(names.front(), names[i])));
  }
  return pairs;
}

latency::Program program_of(const std::vector<latency::ModelShape>& models, const latency::Cell& cell) {
  return latency::program_of(latency::find_model(models, cell.model), cell);
}

namespace {

struct LogitsOfGroup {
  std::string dtype;
  std::int64_t batch, gamma, vocabulary;
  std::string logits;
  latency::Cache cache;
};

std::vector<LogitsOfGroup> logits_in_order() {
  std::vector<LogitsOfGroup> order;
  for (const char* dtype : {"fp16", "fp32"}) {
    for (const std::int64_t batch : {1, 8, 64}) {
      for (const latency::Cache cache : {latency::Cache::cold, latency::Cache::hot}) {
        for (const std::int64_t gamma : {5, 1, 20}) {
          for (const std::int64_t vocabulary : {32'000, 128'256, 256'000}) {
            order.push_back({dtype, batch, gamma, vocabulary, "real_like", cache});
          }
        }
      }
    }
  }
  for (const std::int64_t batch : {1, 64}) {
    for (const std::int64_t vocabulary : {51'865, 151'936}) {
      order.push_back({"fp16", batch, 5, vocabulary, "real_like", latency::Cache::cold});
    }
    for (const char* logits : {"peaked", "flat"})
      order.push_back({"fp16", batch, 5, 128'256, logits, latency::Cache::cold});
    order.push_back({"bf16", batch, 5, 128'256, "real_like", latency::Cache::cold});
  }
  return order;
}

}  // namespace

std::vector<std::vector<latency::VerificationCell>> plan_verifications(const std::vector<PlannedVerifier>& verifiers) {
  std::vector<std::vector<latency::VerificationCell>> groups;
  for (const LogitsOfGroup& of : logits_in_order()) {
    std::vector<latency::VerificationCell>& group = groups.emplace_back();
    for (const PlannedVerifier& verifier : verifiers) {
      latency::VerificationCell cell{.verifier = verifier.name,
                                     .dtype = of.dtype,
                                     .batch = of.batch,
                                     .gamma = of.gamma,
                                     .vocabulary = of.vocabulary,
                                     .logits = of.logits,
                                     .cache = of.cache,
                                     .launch = latency::Launch::graph};
      group.push_back(cell);
      if (!verifier.waits_for_host || of.cache == latency::Cache::cold) continue;
      cell.launch = latency::Launch::eager;
      group.push_back(cell);
    }
  }
  return groups;
}

namespace {

using Counts = std::vector<std::int64_t>;

constexpr std::int64_t default_context = 512;

/// The token counts from 3 to 31 that are not in coarse_tokens. Verification of gamma drafts is a pass over gamma + 1
/// tokens.
Counts tokens_between() {
  Counts tokens;
  for (std::int64_t count = 3; count < 32; ++count) {
    const bool power_of_two = (count & (count - 1)) == 0;
    if (!power_of_two) tokens.push_back(count);
  }
  return tokens;
}

/// Powers of two come first: they show where the curve bends.
const Counts coarse_tokens{1, 2, 4, 8, 16, 32};
const Counts draft_lengths{1, 2, 4, 8};

// For a requested grid.
const Counts verified_tokens{1, 2, 3, 4, 5, 6, 8, 12, 16};
const Counts drafter_tokens{1, 2};
const Counts grid_draft_lengths{1, 4};
const Counts longer_drafts_at_once{8};

/// Cells of one step of the plan for each pair.
struct Step {
  Counts tokens;             ///< of decoder passes of both models, or of the target if the drafter's are given
  Counts draft_lengths;      ///< of drafting
  Counts more_at_once = {};  ///< additional draft lengths of blocks and heads; autoregressive drafts are decoder passes
  bool encoders = false;
  std::int64_t batch = 1;
  std::int64_t context = default_context;
  latency::Cache cache = latency::Cache::cold;
  latency::Launch launch = latency::Launch::graph;
  bool by_operation = false;
  std::optional<Counts> drafter_tokens = {};
};

std::vector<Step> steps_of_a_dtype() {
  std::vector<Step> steps;
  steps.push_back({.tokens = coarse_tokens, .draft_lengths = {}});
  steps.push_back({.tokens = {}, .draft_lengths = draft_lengths, .encoders = true});
  steps.push_back({.tokens = tokens_between(), .draft_lengths = {}});
  steps.push_back({.tokens = {1, 6}, .draft_lengths = {4}, .by_operation = true});
  for (const std::int64_t batch : {2, 4, 8, 16, 32, 64}) {
    steps.push_back({.tokens = coarse_tokens, .draft_lengths = draft_lengths, .encoders = true, .batch = batch});
  }
  for (const std::int64_t batch : {8, 64}) {
    steps.push_back({.tokens = {1, 8}, .draft_lengths = {4}, .batch = batch, .by_operation = true});
  }
  for (const std::int64_t context : {128, 1024, 2048, 4096}) {
    for (const std::int64_t batch : {1, 8, 64}) {
      steps.push_back({.tokens = coarse_tokens, .draft_lengths = {}, .batch = batch, .context = context});
    }
  }
  steps.push_back({.tokens = {48, 64, 96, 128, 256}, .draft_lengths = {}});
  steps.push_back({.tokens = coarse_tokens, .draft_lengths = {}, .cache = latency::Cache::hot});
  steps.push_back({.tokens = {1}, .draft_lengths = {}, .launch = latency::Launch::eager});
  return steps;
}

std::vector<Step> steps_of_a_grid(const PlanGrid& grid) {
  std::vector<Step> steps;
  for (const std::int64_t batch : grid.batches) {
    for (const std::int64_t context : grid.contexts) {
      steps.push_back({.tokens = verified_tokens,
                       .draft_lengths = grid_draft_lengths,
                       .more_at_once = longer_drafts_at_once,
                       .batch = batch,
                       .context = context,
                       .launch = grid.launch,
                       .drafter_tokens = drafter_tokens});
    }
  }
  // Separate and last: an encoder may take longer than all of the above.
  steps.push_back(
      {.tokens = {}, .draft_lengths = {}, .encoders = true, .batch = grid.batches.front(), .launch = grid.launch});
  return steps;
}

std::int64_t context_of(const PlannedModel& model, std::int64_t wanted) {
  constexpr std::int64_t room = 32;
  while (model.positions > 0 && wanted > 0 && wanted + room > model.positions) wanted /= 2;
  return wanted;
}

std::vector<latency::Cell> cells_of(const PlannedPair& pair, const Step& step, const std::string& dtype) {
  std::vector<latency::Cell> cells;
  const auto add = [&](const PlannedModel& model, latency::Role role, std::int64_t tokens) {
    const bool encodes = role == latency::Role::encoder_pass;
    const std::int64_t context = encodes ? 0 : context_of(model, step.context);
    if (model.positions > 0 && context + tokens > model.positions) return;
    cells.push_back({.model = model.name,
                     .role = role,
                     .dtype = dtype,
                     .batch = step.batch,
                     .tokens = tokens,
                     .context = context,
                     .source_length = model.source_length,
                     .cache = step.cache,
                     .launch = step.launch});
  };
  const bool plain_drafter = pair.drafting == latency::Role::autoregressive_drafting;
  for (const std::int64_t tokens : step.tokens) {
    add(pair.target, latency::Role::decoder_pass, tokens);
    // A block drafter has no decoder pass, and heads are not a separate model.
    if (!step.drafter_tokens && plain_drafter) add(pair.drafter, latency::Role::decoder_pass, tokens);
  }
  if (step.drafter_tokens && plain_drafter) {
    for (const std::int64_t tokens : *step.drafter_tokens) add(pair.drafter, latency::Role::decoder_pass, tokens);
  }
  // Autoregressive drafting consists of decoder passes, which are measured by operation above.
  const bool repeats_passes = step.by_operation && plain_drafter;
  if (!repeats_passes) {
    for (const std::int64_t gamma : step.draft_lengths) add(pair.drafter, pair.drafting, gamma);
  }
  if (!plain_drafter) {
    for (const std::int64_t gamma : step.more_at_once) add(pair.drafter, pair.drafting, gamma);
  }
  if (step.encoders) {
    for (const PlannedModel* model : {&pair.target, &pair.drafter}) {
      if (model->source_length > 0) add(*model, latency::Role::encoder_pass, 0);
    }
  }
  return cells;
}

void check_pairs(const std::vector<PlannedPair>& pairs, const std::vector<std::string>& dtypes) {
  if (pairs.empty()) throw DomainError("no pairs to plan for");
  if (dtypes.empty()) throw DomainError("no dtypes to plan for");
  for (const PlannedPair& pair : pairs) {
    if (!drafts(pair.drafting)) {
      throw DomainError(fmt::format("{} drafts for {} by {}, which drafts nothing", pair.drafter.name, pair.target.name,
                                    to_string(pair.drafting)));
    }
  }
}

std::vector<CellGroup> plan_steps(const std::vector<PlannedPair>& pairs, const std::vector<std::string>& dtypes,
                                  const std::vector<Step>& steps) {
  check_pairs(pairs, dtypes);
  std::vector<CellGroup> plan;
  std::set<std::pair<bool, latency::Cell>> planned;
  for (const std::string& dtype : dtypes) {
    for (const Step& step : steps) {
      for (const PlannedPair& pair : pairs) {
        std::vector<latency::Cell> cells = cells_of(pair, step, dtype);
        std::erase_if(cells, [&](const latency::Cell& cell) {
          return !planned.insert({step.by_operation, cell}).second;
        });
        if (step.by_operation) {
          for (latency::Cell& cell : cells) plan.push_back({.cells = {std::move(cell)}, .by_operation = true});
        } else if (!cells.empty()) {
          plan.push_back({.cells = std::move(cells)});
        }
      }
    }
  }
  return plan;
}

}  // namespace

std::vector<CellGroup> plan_cells(const std::vector<PlannedPair>& pairs, const std::vector<std::string>& dtypes) {
  return plan_steps(pairs, dtypes, steps_of_a_dtype());
}

std::vector<CellGroup> plan_grid(const std::vector<PlannedPair>& pairs, const PlanGrid& grid) {
  if (grid.batches.empty() || grid.contexts.empty()) throw DomainError("no batches or no contexts to plan for");
  return plan_steps(pairs, grid.dtypes, steps_of_a_grid(grid));
}

std::vector<std::vector<latency::VerificationCell>> plan_sampling(const std::vector<PlannedPair>& pairs,
                                                                  const std::vector<latency::ModelShape>& models,
                                                                  const PlanGrid& grid) {
  std::set<std::int64_t> vocabularies;
  for (const PlannedPair& pair : pairs) vocabularies.insert(latency::find_model(models, pair.target.name).vocabulary);
  std::vector<std::vector<latency::VerificationCell>> groups;
  for (const std::string& dtype : grid.dtypes) {
    for (const std::int64_t batch : grid.batches) {
      for (const std::int64_t vocabulary : vocabularies) {
        for (const std::int64_t gamma : {0, 1, 4, 8}) {
          groups.push_back({{.verifier = "fused_exact",
                             .dtype = dtype,
                             .batch = batch,
                             .gamma = gamma,
                             .vocabulary = vocabulary,
                             .logits = "real_like",
                             .cache = latency::Cache::hot,
                             .launch = grid.launch}});
        }
      }
    }
  }
  return groups;
}

}  // namespace foredraft::gpu_bench
