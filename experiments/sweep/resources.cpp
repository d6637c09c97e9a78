#include "experiments/sweep/resources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <filesystem>

#include "core/check.hpp"
#include "experiments/config/trace_file.hpp"
#include "experiments/sweep/point.hpp"
#include "experiments/text/digest.hpp"
#include "experiments/text/files.hpp"
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

sim::NgramPair Resources::ngram_pair(const ModelInputs& models) {
  const std::lock_guard lock(mutex_);
  TrainedCorpus& trained = corpus(models.corpus, models.vocabulary);
  const auto model = [&](std::int64_t order) {
    std::shared_ptr<const ngram::Model>& held = trained.models[order];
    if (!held) {
      held = ngram::Model::train(trained.documents, trained.vocabulary.size(), static_cast<int>(order));
    }
    return held;
  };
  return {model(models.target_order), model(models.draft_order)};
}

std::shared_ptr<const ngram::Model> Resources::ngram_target(const ModelInputs& models) {
  ModelInputs alone = models;
  alone.draft_order = models.target_order;
  return ngram_pair(alone).target;
}

void Resources::prepare(const SweepConfig& config) {
  if (!has_input(config, "process.file") && !has_input(config, "models.corpus")) return;
  const Points points(config);
  try {
    for (std::uint64_t index = 0; index < points.count(); ++index) {
      const PointInputs inputs = points.inputs(index);
      if (inputs.fidelity == Fidelity::token && inputs.models.ngram) {
        if (inputs.drafter == "prompt_lookup") {
          static_cast<void>(ngram_target(inputs.models));
        } else {
          static_cast<void>(ngram_pair(inputs.models));
        }
      } else if (inputs.fidelity == Fidelity::process && inputs.process == ProcessKind::trace) {
        static_cast<void>(trace(inputs.trace_file, inputs.recorded_gamma, inputs.convention));
      }
    }
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

std::vector<FileDigest> Resources::files() const {
  std::vector<FileDigest> result;
  for (const auto& [path, file] : files_) result.push_back(file);
  return result;
}

}  // namespace foredraft::experiments
