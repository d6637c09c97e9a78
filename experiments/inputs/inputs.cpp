// SPDX-License-Identifier: Apache-2.0
#include "experiments/inputs/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>

#include "core/files.hpp"
#include "core/problems.hpp"
#include "experiments/devices/devices.hpp"
#include "experiments/inputs/trace_file.hpp"
#include "experiments/text/digest.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/inputs.hpp"
#include "latency/surfaces/surface_times.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/cost.hpp"
#include "scenario/registries.hpp"
#include "scenario/server.hpp"

namespace foredraft::experiments {
namespace {

/// More text of one's own than this is sampled evenly: n-gram counts must fit into memory.
constexpr std::uint64_t most_corpus_bytes = 256'000'000;

Corpus read_corpus_of(const std::vector<std::string>& names) {
  if (names == std::vector<std::string>{"prose"}) return default_corpus(DefaultCorpus::prose);
  if (names == std::vector<std::string>{"code"}) return default_corpus(DefaultCorpus::code);
  std::vector<std::filesystem::path> paths(names.begin(), names.end());
  return read_corpus(paths, most_corpus_bytes);
}

Corpus read_named_corpus(const std::vector<std::string>& names) {
  try {
    return read_corpus_of(names);
  } catch (const DomainError& error) {
    throw InputError(fmt::format("models.corpus: {}: {}", fmt::join(names, " "), error.what()));
  }
}

}  // namespace

void Inputs::attach(Scenario& scenario) {
  if (auto* roofline = std::get_if<Roofline>(&scenario.cost)) {
    roofline->times = times(*roofline, true, scenario.drafter);
  } else if (auto* measured = std::get_if<Measured>(&scenario.cost)) {
    measured->times = times(*measured, false, scenario.drafter);
  }
  if (auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity)) {
    if (auto* trace = std::get_if<Trace>(&process->acceptance)) {
      trace->recording = recording(*trace, scenario.convention);
    }
  } else if (auto* token = std::get_if<TokenFidelity>(&scenario.fidelity)) {
    if (auto* models = std::get_if<NgramModels>(&token->models)) {
      models->trained = trained(*models, scenario.drafter, scenario.gamma);
    }
  }
}

std::shared_ptr<const Recording> Inputs::recording(const Trace& trace, Convention convention) {
  const std::lock_guard lock(mutex_);
  const std::string key = fmt::format("{}|{}|{}", trace.file, trace.recorded_gamma, to_string(convention));
  std::shared_ptr<const Recording>& held = recordings_[key];
  if (held) return held;
  auto text = recorded_texts_.find(trace.file);
  if (text == recorded_texts_.end()) {
    text = recorded_texts_.emplace(trace.file, read_file(trace.file)).first;
    files_[trace.file] = digest_text(trace.file, text->second);
  }
  held = std::make_shared<const Recording>(parse_trace(text->second, trace.file, trace.recorded_gamma, convention));
  return held;
}

const latency::Profile& Inputs::profile(const std::string& name) {
  if (const auto found = profiles_.find(name); found != profiles_.end()) return found->second;
  ReadProfile read = read_profile(name);
  if (!read.shipped) files_[name] = read.digest;
  return profiles_.emplace(name, std::move(read.profile)).first->second;
}

std::shared_ptr<const PassTimes> Inputs::times(const LookedUpTimes& asked, bool datasheet, const Drafter& drafter) {
  const std::lock_guard lock(mutex_);
  const std::string key =
      fmt::format("{}|{}|{}|{}|{}", datasheet, asked.source, asked.target, asked.draft, scenario::name_of(drafter));
  std::shared_ptr<const PassTimes>& held = times_[key];
  if (held) return held;
  const latency::Profile& read = profile(asked.source);
  // A roofline is of a data sheet, measured times are of what was measured.
  if ((read.source == latency::Source::datasheet) != datasheet) {
    throw DomainError(fmt::format("{}: a profile of source {} - use cost = \"{}\"", asked.source,
                                  to_string(read.source),
                                  scenario::name_of(datasheet ? Cost(Measured{}) : Cost(Roofline{}))));
  }
  held = latency::surface_times(read, asked.source, asked, drafter);
  return held;
}

Inputs::TrainedCorpus& Inputs::corpus(const std::vector<std::string>& names, std::int64_t vocabulary) {
  const std::string key = fmt::format("{}|{}", fmt::join(names, "|"), vocabulary);
  const auto found = corpora_.find(key);
  if (found != corpora_.end()) return found->second;
  const Corpus read = read_named_corpus(names);
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

}  // namespace foredraft
