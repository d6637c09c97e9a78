// SPDX-License-Identifier: Apache-2.0
#include "experiments/sweep/resources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>

#include "core/check.hpp"
#include "core/files.hpp"
#include "experiments/config/trace_file.hpp"
#include "experiments/sweep/answer.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/text/digest.hpp"
#include "experiments/text/problems.hpp"
#include "sim/ngram/model.hpp"

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

/// Names the line whose value the error quotes, or that of the cost model.
[[noreturn]] void refuse_cost(const SweepConfig& config, const DomainError& error) {
  const std::string_view what = error.what();
  std::string_view key = "cost";
  for (const std::string_view name : {"cost.target", "cost.draft", "cost.profile", "cost.device"}) {
    for (const Value& value : values_of(config, name)) {
      if (what.find(fmt::format("\"{}\"", to_text(value))) != std::string_view::npos) key = name;
    }
  }
  const Axis* axis = find_axis(config, key);
  const auto fixed =
      std::ranges::find_if(config.fixed, [&](const FixedInput& input) { return input.parameter->name == key; });
  Problems problems(config.source);
  problems.add({.line = axis != nullptr               ? axis->line
                        : fixed != config.fixed.end() ? fixed->line
                                                      : 0,
                .key = fmt::format("{}.{}", axis != nullptr ? "axes" : "fixed", key),
                .text = error.what()});
  throw InputError(problems.text());
}

}  // namespace

const sim::Trace& Resources::trace(const std::string& path, std::int64_t recorded_gamma, Convention convention) {
  const std::lock_guard lock(mutex_);
  const std::string key = fmt::format("{}|{}|{}", path, recorded_gamma, to_string(convention));
  const auto found = traces_.find(key);
  if (found != traces_.end()) return found->second;
  const std::string text = read_file(path);
  files_[path] = digest_text(path, text);
  return traces_.emplace(key, parse_trace(text, path, recorded_gamma, convention)).first->second;
}

Resources::TrainedCorpus& Resources::corpus(const std::vector<std::string>& names, std::int64_t vocabulary) {
  const std::string key = fmt::format("{}|{}", fmt::join(names, "|"), vocabulary);
  const auto found = corpora_.find(key);
  if (found != corpora_.end()) return found->second;
  const Corpus read = read_named_corpus(names);
  for (const FileDigest& file : read.files) files_[file.path] = file;
  TrainedCorpus trained{ngram::Vocabulary::build(read.texts, vocabulary), {}, {}};
  for (const std::string& text : read.texts) trained.documents.push_back(trained.vocabulary.encode(text));
  return corpora_.emplace(key, std::move(trained)).first->second;
}

std::shared_ptr<const ngram::Model> Resources::model(TrainedCorpus& trained, const ngram::Window& window) {
  std::shared_ptr<const ngram::Model>& held = trained.models[window.distances];
  if (!held) held = ngram::Model::train(trained.documents, trained.vocabulary.size(), window);
  return held;
}

ngram::Drafter Resources::drafter(TrainedCorpus& trained, const PointInputs& inputs) {
  const auto order = static_cast<int>(inputs.models.draft_order);
  const bool heads = inputs.drafter == "heads";
  if (!heads && inputs.drafter != "mlp_speculator") {
    return ngram::ngram_drafter(model(trained, ngram::adjacent_window(order)));
  }
  std::vector<std::shared_ptr<const ngram::Model>> models;
  // Without drafts the first one does nothing.
  for (int position = 1; position <= std::max(1, static_cast<int>(inputs.gamma)); ++position) {
    models.push_back(
        model(trained, heads ? ngram::head_window(order, position) : ngram::stage_window(order, position)));
  }
  return heads ? ngram::heads(std::move(models)) : ngram::stages(std::move(models));
}

sim::NgramPair Resources::ngram_pair(const PointInputs& inputs) {
  const std::lock_guard lock(mutex_);
  const ModelInputs& models = inputs.models;
  TrainedCorpus& trained = corpus(models.corpus, models.vocabulary);
  return {model(trained, ngram::adjacent_window(static_cast<int>(models.target_order))), drafter(trained, inputs)};
}

std::shared_ptr<const ngram::Model> Resources::ngram_target(const ModelInputs& models) {
  const std::lock_guard lock(mutex_);
  return model(corpus(models.corpus, models.vocabulary), ngram::adjacent_window(static_cast<int>(models.target_order)));
}

void Resources::prepare(const SweepConfig& config) {
  prepare_costs(config);
  if (!has_input(config, "process.file") && !has_input(config, "models.corpus")) return;
  const Points points(config);
  try {
    for (std::uint64_t index = 0; index < points.count(); ++index) {
      const PointInputs inputs = points.inputs(index);
      if (inputs.fidelity == Fidelity::token && inputs.models.ngram) {
        if (inputs.drafter == "prompt_lookup") {
          static_cast<void>(ngram_target(inputs.models));
        } else {
          static_cast<void>(ngram_pair(inputs));
        }
      } else if (inputs.fidelity == Fidelity::process && inputs.process == ProcessKind::trace) {
        static_cast<void>(trace(inputs.trace_file, inputs.recorded_gamma, inputs.convention));
      }
    }
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

void Resources::prepare_costs(const SweepConfig& config) {
  for (const Value& value : values_of(config, "cost.profile")) {
    const auto& path = std::get<std::string>(value);
    if (std::filesystem::is_regular_file(path)) files_[path] = digest_text(path, read_file(path));
  }
  if (!has_input(config, "cost.target")) return;
  const Points points(config);
  try {
    for (std::uint64_t index = 0; index < points.count(); ++index) {
      const PointInputs inputs = points.inputs(index);
      if (inputs.fidelity == Fidelity::system) {
        ask_extreme_passes(inputs);
      } else {
        static_cast<void>(decoding_cost(inputs));
      }
    }
  } catch (const DomainError& error) {
    refuse_cost(config, error);
  }
}

std::vector<FileDigest> Resources::files() const {
  std::vector<FileDigest> result;
  for (const auto& [path, file] : files_) result.push_back(file);
  return result;
}

}  // namespace foredraft::experiments
