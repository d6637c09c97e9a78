// SPDX-License-Identifier: Apache-2.0
#include "experiments/models/read_model.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/problems.hpp"
#include "core/readable.hpp"
#include "foredraft/errors.hpp"
#include "latency/models/hugging_face.hpp"
#include "latency/models/model_registry.hpp"

namespace foredraft::experiments {
namespace {

namespace fs = std::filesystem;

std::string lower_case(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return word;
}

const latency::ModelShape* shipped_model(const std::string& name) {
  for (const latency::ModelShape& shape : latency::model_registry()) {
    if (shape.name == lower_case(name)) return &shape;
  }
  return nullptr;
}

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  std::vector<std::string> known;
  for (const latency::ModelShape& shape : latency::model_registry()) known.push_back(shape.name);
  const std::string_view near = nearest(lower_case(what), known);
  throw InputError(fmt::format("{}: {} - {}", readable(what), why,
                               near.empty() ? "foredraft list models prints the shipped ones; or name a FILE.toml, a "
                                              "config.json or a folder that holds one"
                                            : fmt::format("did you mean {}?", near)));
}

/// What a checkpoint is called: the name of its folder.
std::string checkpoint_name(const fs::path& file) {
  if (file.filename() != "config.json") return file.stem().string();
  std::error_code unknown;
  const fs::path folder = fs::absolute(file, unknown).lexically_normal().parent_path();
  return folder.filename().empty() ? "config" : folder.filename().string();
}

ReadModel read_config(const fs::path& file) {
  std::vector<FileDigest> digests;
  const std::string text = read_input(file.string(), digests);
  latency::HuggingFaceModel model = latency::parse_hugging_face(text, file.string());
  std::error_code unknown;
  const fs::path beside = file.parent_path() / "hf_quant_config.json";
  if (file.filename() == "config.json" && fs::exists(beside, unknown)) {
    latency::add_quantization(model, read_input(beside.string(), digests), beside.string());
  }
  model.shape.name = checkpoint_name(file);
  return {std::move(model.shape), model.weights, model.kv_cache, std::move(model.notes), std::move(digests)};
}

/// One model of a file: the one that is named, or its only one.
ReadModel read_file_of_models(const std::string& path, const std::string& name) {
  std::vector<FileDigest> digests;
  const std::string text = read_input(path, digests);
  std::vector<latency::ModelShape> models = latency::parse_models(text, path);
  if (name.empty() && models.size() == 1) {
    return {.shape = std::move(models.front()), .digests = std::move(digests)};
  }
  std::vector<std::string> known;
  for (latency::ModelShape& model : models) {
    if (model.name == name) return {.shape = std::move(model), .digests = std::move(digests)};
    known.push_back(model.name);
  }
  if (name.empty()) {
    throw InputError(fmt::format("{}: holds {} models - name one: {}:{}", readable(path), models.size(), readable(path),
                                 readable(known.front())));
  }
  throw InputError(
      fmt::format("{}: no model \"{}\" - {}", readable(path), readable(name), suggestion_for(name, known)));
}

ReadModel read_path(const std::string& what) {
  std::error_code unknown;
  const fs::file_status status = fs::status(what, unknown);
  const std::size_t colon = what.rfind(".toml:");
  constexpr std::size_t toml = 5;
  if (status.type() == fs::file_type::not_found && colon != std::string::npos) {
    return read_file_of_models(what.substr(0, colon + toml), what.substr(colon + toml + 1));
  }
  if (status.type() == fs::file_type::not_found || what.empty()) {
    refuse(what, "neither a shipped model nor a file");
  }
  if (fs::is_directory(status)) {
    const fs::path config = fs::path(what) / "config.json";
    if (!fs::exists(config, unknown)) refuse(what, "a folder without a config.json");
    return read_config(config);
  }
  return fs::path(what).extension() == ".toml" ? read_file_of_models(what, "") : read_config(what);
}

double share_of(std::int64_t difference, std::int64_t whole) {
  return static_cast<double>(std::abs(difference)) / static_cast<double>(whole);
}

/// Padding of one tokenizer's vocabulary stays below this share of it.
constexpr double most_padding = 0.01;

bool other_tokens(const latency::ModelShape& target, const latency::ModelShape& draft) {
  return share_of(target.vocabulary - draft.vocabulary, std::max(target.vocabulary, draft.vocabulary)) >= most_padding;
}

}  // namespace

ReadModel read_model(const std::string& what) {
  if (const latency::ModelShape* shape = shipped_model(what)) return {.shape = *shape};
  try {
    return read_path(what);
  } catch (const DomainError& error) {
    throw InputError(error.what());
  }
}

std::optional<std::string> vocabulary_problem(const latency::ModelShape& target, const latency::ModelShape& draft) {
  if (!other_tokens(target, draft)) return std::nullopt;
  return fmt::format(
      "{} has {} tokens and {} has {}: they are not of one tokenizer, and a draft of one is no token of the other",
      readable(target.name), target.vocabulary, readable(draft.name), draft.vocabulary);
}

std::optional<std::string> vocabulary_note(const latency::ModelShape& target, const latency::ModelShape& draft) {
  if (target.vocabulary == draft.vocabulary || other_tokens(target, draft)) return std::nullopt;
  return fmt::format("{} has {} tokens and {} has {}: taken for one tokenizer whose table is padded differently",
                     readable(target.name), target.vocabulary, readable(draft.name), draft.vocabulary);
}

std::optional<std::string> head_problem(const latency::ModelShape& target, const latency::ModelShape& draft) {
  if (draft.architecture != latency::Architecture::head) return std::nullopt;
  const std::int64_t width = draft.head.hidden_width > 0 ? draft.head.hidden_width : draft.d_model;
  if (width == target.d_model) return std::nullopt;
  return fmt::format("{} reads hidden states of width {}, those of {} have {} - take the head of this target",
                     readable(draft.name), width, readable(target.name), target.d_model);
}

}  // namespace foredraft::experiments
