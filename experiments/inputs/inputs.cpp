// SPDX-License-Identifier: Apache-2.0
#include "experiments/inputs/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>

#include "core/check.hpp"
#include "core/files.hpp"
#include "core/problems.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/inputs/trace_file.hpp"
#include "experiments/models/read_model.hpp"
#include "experiments/text/digest.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/inputs.hpp"
#include "latency/surfaces/surface_times.hpp"
#include "scenario/check.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/family.hpp"
#include "scenario/server.hpp"

namespace foredraft::experiments {
namespace {

/// More text of one's own than this is sampled evenly: n-gram counts must fit into memory.
constexpr std::uint64_t max_corpus_bytes = 256'000'000;

Corpus read_corpus_of(const std::vector<std::string>& names) {
  if (names == std::vector<std::string>{"prose"}) return default_corpus(DefaultCorpus::prose);
  if (names == std::vector<std::string>{"code"}) return default_corpus(DefaultCorpus::code);
  std::vector<std::filesystem::path> paths(names.begin(), names.end());
  return read_corpus(paths, max_corpus_bytes);
}

Corpus read_named_corpus(const std::vector<std::string>& names) {
  try {
    return read_corpus_of(names);
  } catch (const DomainError& error) {
    throw InputError(fmt::format("models.corpus: {}: {}", fmt::join(names, " "), error.what()));
  }
}

/// What distinguishes the times of two rooflines of the same models.
std::string deployment_key(const Roofline& asked) {
  const auto text = [](const auto& stated) { return stated ? fmt::format("{}", *stated) : std::string("-"); };
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", text(asked.target_format), text(asked.draft_format),
                     text(asked.kv_format), asked.target_tp, asked.draft_tp, asked.expert_skew,
                     text(asked.bandwidth_efficiency), text(asked.compute_efficiency), text(asked.step_overhead_us),
                     text(asked.iteration_us), asked.memory_utilization, asked.ignore_memory,
                     asked.allow_vocabulary_mismatch);
}

std::optional<latency::NumberFormat> read_format(std::string_view key, const std::optional<std::string>& word) {
  if (!word) return std::nullopt;
  if (const auto format = latency::number_format(*word)) return format;
  throw DomainError(fmt::format("{}: unknown format \"{}\" - {}", key, *word, format_suggestion(*word)));
}

AskedDeployment asked_deployment(const Roofline* asked) {
  if (asked == nullptr) return {};
  return {.target_format = read_format("cost.target_format", asked->target_format),
          .draft_format = read_format("cost.draft_format", asked->draft_format),
          .kv_format = read_format("cost.kv_format", asked->kv_format),
          .target_tp = asked->target_tp,
          .draft_tp = asked->draft_tp,
          .expert_skew = asked->expert_skew};
}

latency::TimedPair timed_pair(const DeployedPair& pair, const latency::Profile& profile, const Roofline* asked) {
  latency::TimedPair timed{.target = pair.target,
                           .draft = pair.draft,
                           .models = pair.models,
                           .sheet = {.attainable = latency::attainable_of(profile)}};
  if (asked == nullptr) return timed;
  if (pair.head_problem) throw DomainError("cost.draft: " + *pair.head_problem);
  if (pair.vocabulary_problem && !asked->allow_vocabulary_mismatch) {
    throw DomainError("cost.draft: " + *pair.vocabulary_problem +
                      " - take a draft of the target's family, or set cost.allow_vocabulary_mismatch = 1");
  }
  const latency::AttainableOverrides known{.bandwidth_efficiency = asked->bandwidth_efficiency,
                                           .compute_efficiency = asked->compute_efficiency,
                                           .step_us = asked->step_overhead_us,
                                           .iteration_us = asked->iteration_us};
  timed.sheet.target = pair.target_deployment;
  timed.sheet.draft = pair.draft_deployment;
  timed.sheet.attainable = latency::with(known, timed.sheet.attainable.value());
  if (!asked->ignore_memory) timed.memory_utilization = asked->memory_utilization;
  return timed;
}

}  // namespace

void Inputs::attach(Scenario& scenario) {
  if (auto* roofline = std::get_if<Roofline>(&scenario.cost)) {
    roofline->times = times(*roofline, roofline, scenario.drafter);
  } else if (auto* measured = std::get_if<Measured>(&scenario.cost)) {
    measured->times = times(*measured, nullptr, scenario.drafter);
  }
  if (AcceptanceProcess* stated = scenario::acceptance_of(scenario)) {
    if (const auto* observed = std::get_if<Observed>(stated)) {
      *stated = acceptance(*observed, scenario.gamma);
    } else if (auto* trace = std::get_if<Trace>(stated)) {
      trace->recording = recording(*trace, scenario);
    }
  } else if (auto* token = std::get_if<TokenFidelity>(&scenario.fidelity)) {
    if (auto* models = std::get_if<NgramModels>(&token->models)) {
      models->trained = trained(*models, scenario.drafter, scenario.gamma);
    }
  }
}

std::string Inputs::located(const std::string& name) const {
  if (folder_.empty() || std::filesystem::path(name).is_absolute()) return name;
  std::string beside = (std::filesystem::path(folder_) / name).lexically_normal().string();
  std::error_code unknown;
  return std::filesystem::is_regular_file(beside, unknown) ? beside : name;
}

std::string Inputs::located_file(const std::string& name) {
  std::string path = located(name);
  if (path != name || folder_.empty() || std::filesystem::path(name).is_absolute()) return path;
  std::string beside = (std::filesystem::path(folder_) / name).lexically_normal().string();
  std::error_code unknown;
  if (!std::filesystem::exists(name, unknown)) return beside;
  notes_.insert(
      fmt::format("{}: taken from the working directory; beside the configuration there is no {}", name, beside));
  return path;
}

void Inputs::note_extrapolation(const std::string& file, std::int64_t recorded_gamma, std::int64_t gamma) {
  if (recorded_gamma == 0 || gamma <= recorded_gamma) return;
  notes_.insert(fmt::format(
      "{}: recorded at gamma {}; longer drafts are extrapolated: what follows {} accepted drafts is drawn with the "
      "acceptance rate of the whole recording",
      file, recorded_gamma, recorded_gamma));
}

std::shared_ptr<const Recording> Inputs::recording(const Trace& trace, const Scenario& scenario) {
  const std::lock_guard lock(mutex_);
  const std::string file = located_file(trace.file);
  note_extrapolation(file, trace.recorded_gamma, scenario.gamma);
  const std::string key = fmt::format("{}|{}|{}", file, trace.recorded_gamma, to_string(scenario.convention));
  std::shared_ptr<const Recording>& held = recordings_[key];
  if (held) return held;
  auto text = recorded_texts_.find(file);
  if (text == recorded_texts_.end()) {
    text = recorded_texts_.emplace(file, read_file(file)).first;
    files_[file] = digest_text(file, text->second);
  }
  held = std::make_shared<const Recording>(parse_trace(text->second, file, trace.recorded_gamma, scenario.convention));
  return held;
}

AcceptanceProcess Inputs::acceptance(const Observed& log, std::int64_t gamma) {
  const std::lock_guard lock(mutex_);
  const std::string file = located_file(log.file);
  auto held = observed_.find(file);
  if (held == observed_.end()) {
    held = observed_.emplace(file, read_observed_acceptance(file)).first;
    files_[file] = held->second.file;
  }
  note_extrapolation(file, held->second.recorded_gamma, gamma);
  return held->second.process;
}

const latency::Profile& Inputs::profile(const std::string& name) {
  if (const auto found = profiles_.find(name); found != profiles_.end()) return found->second;
  ReadProfile read = read_profile(name);
  if (!read.shipped) files_[name] = read.digest;
  return profiles_.emplace(name, std::move(read.profile)).first->second;
}

std::shared_ptr<const PassTimes> Inputs::times(const LookedUpTimes& asked, const Roofline* roofline,
                                               const Drafter& drafter) {
  const std::lock_guard lock(mutex_);
  const std::string key = fmt::format("{}|{}|{}|{}|{}", asked.source, asked.target, asked.draft,
                                      scenario::name_of(drafter), roofline == nullptr ? "" : deployment_key(*roofline));
  std::shared_ptr<const PassTimes>& held = times_[key];
  if (held) return held;
  const latency::Profile& read = profile(located(asked.source));
  // A roofline is of a data sheet, measured times are of what was measured.
  if ((read.source == latency::Source::datasheet) != (roofline != nullptr)) {
    throw DomainError(fmt::format("{}: a profile of source {} - use cost = \"{}\"", asked.source,
                                  to_string(read.source),
                                  scenario::name_of(roofline != nullptr ? Cost(Measured{}) : Cost(Roofline{}))));
  }
  const DeployedPair pair = read_pair({.target = located(asked.target),
                                       .draft = located(asked.draft),
                                       .heads = std::holds_alternative<Heads>(drafter),
                                       .deployment = asked_deployment(roofline)},
                                      read);
  for (const FileDigest& file : pair.files) files_[file.path] = file;
  held = latency::surface_times(read, asked.source, timed_pair(pair, read, roofline), drafter);
  return held;
}

Inputs::TrainedCorpus& Inputs::corpus(const std::vector<std::string>& names, std::int64_t vocabulary) {
  const std::string key = fmt::format("{}|{}", fmt::join(names, "|"), vocabulary);
  const auto found = corpora_.find(key);
  if (found != corpora_.end()) return found->second;
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(located(name));
  const Corpus read = read_named_corpus(paths);
  for (const FileDigest& file : read.files) files_[file.path] = file;
  TrainedCorpus trained{ngram::Vocabulary::build(read.texts, vocabulary), {}, {}};
  for (const std::string& text : read.texts) trained.documents.push_back(trained.vocabulary.encode(text));
  return corpora_.emplace(key, std::move(trained)).first->second;
}

std::shared_ptr<const ngram::Model> Inputs::model(TrainedCorpus& trained, const ngram::Window& window) {
  std::shared_ptr<const ngram::Model>& held = trained.models[window.distances];
  if (!held) held = ngram::Model::train(trained.documents, trained.vocabulary.size(), window);
  return held;
}

std::shared_ptr<const TrainedModels> Inputs::trained(const NgramModels& models, const Drafter& drafter,
                                                     std::int64_t gamma) {
  const std::lock_guard lock(mutex_);
  TrainedCorpus& text = corpus(models.corpus, models.vocabulary);
  auto result = std::make_shared<TrainedModels>();
  result->target = model(text, ngram::adjacent_window(static_cast<int>(models.target_order)));
  if (std::holds_alternative<PromptLookup>(drafter)) return result;
  const auto order = static_cast<int>(models.draft_order);
  const bool heads = std::holds_alternative<Heads>(drafter);
  if (!heads && !std::holds_alternative<MlpSpeculator>(drafter)) {
    result->drafter = ngram::ngram_drafter(model(text, ngram::adjacent_window(order)));
    return result;
  }
  std::vector<std::shared_ptr<const ngram::Model>> by_position;
  // Without drafts the first one does nothing.
  for (int position = 1; position <= std::max(1, static_cast<int>(gamma)); ++position) {
    by_position.push_back(
        model(text, heads ? ngram::head_window(order, position) : ngram::stage_window(order, position)));
  }
  result->drafter = heads ? ngram::heads(std::move(by_position)) : ngram::stages(std::move(by_position));
  return result;
}

std::vector<FileDigest> Inputs::files() const {
  const std::lock_guard lock(mutex_);
  std::vector<FileDigest> result;
  for (const auto& [path, file] : files_) result.push_back(file);
  return result;
}

std::set<std::string> Inputs::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

void ask_extreme_passes(const Server& server, const Scenario& scenario) {
  const LookedUpTimes* cost = scenario::looked_up(scenario.cost);
  if (cost == nullptr) return;
  const Drafting drafting = scenario::drafting(scenario.drafter);
  const auto longest_prompt = static_cast<std::int64_t>(server.prompt.tokens) + server.prompt.spread;
  const double longest =
      server.prompt.tokens + server.output.tokens + static_cast<double>(server.prompt.spread + server.output.spread);
  const auto ask = [&](std::int64_t gamma, StepShape pass) {
    pass.tokens = pass.prompt ? longest_prompt : max_tokens(gamma, scenario.convention);
    static_cast<void>(cost->times->target_us(pass, scenario.convention));
    if (draft_passes(gamma, drafting) == 0) return;
    if (!pass.prompt) pass.tokens = drafting == Drafting::block ? gamma : 1;
    static_cast<void>(cost->times->drafter_us(pass));
  };
  for (const auto& [from, to, gamma] : scenario::gamma_of_batches(server, scenario.gamma)) {
    const std::int64_t verified = std::max<std::int64_t>(1, max_tokens(gamma, scenario.convention));
    cost->times->check_memory({.batch = std::min(to, server.max_batch), .tokens = verified, .context = longest});
    for (const std::int64_t batch : {from, std::min(to, server.max_batch)}) {
      for (const double context : {server.prompt.tokens, longest}) {
        ask(gamma, {.batch = batch, .tokens = 0, .context = context});
      }
      if (longest_prompt > 0) ask(gamma, {.batch = batch, .tokens = 0, .context = 0.0, .prompt = true});
    }
  }
}

}  // namespace foredraft::experiments

namespace foredraft {

void read_inputs(Scenario& scenario) {
  scenario::check_scenario(scenario);
  experiments::Inputs().attach(scenario);
}

Scenario Scenario::from(const std::vector<Input>& inputs) {
  ProblemList problems("Scenario::from");
  Scenario scenario = scenario::scenario_of(inputs, problems);
  problems.raise();
  try {
    experiments::Inputs().attach(scenario);
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
  return scenario;
}

}  // namespace foredraft
