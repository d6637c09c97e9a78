// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/digest.hpp"
#include "foredraft/methods.hpp"

/// A configuration of `foredraft methods`.
namespace foredraft::inputs {

struct MethodsFile {
  MethodsQuestion question = {};  ///< what is not stated has its default; no times of verification
  std::optional<std::int64_t> positions = {};
  std::optional<double> verify_growth = {};
};

/// Keys: schema ("foredraft.methods/1"), methods, temperature, gamma, c, verify_growth, positions, width, servers,
/// iterations, seed, and of a synthetic pair models.target, models.parameter, models.vocabulary, models.draft,
/// models.alpha, models.pool. Several pairs: a table pairs.NAME each, with the keys of models, which is their default,
/// or kind = "ngram" with corpus, vocabulary, target_order, draft_order and pool. parameters.METHOD: numbers or lists
/// of them by parameter, without the prefix of the family. Throws InputError `file:line: key: ...` with every problem.
[[nodiscard]] MethodsFile parse_methods_file(std::string_view text, const std::string& file);

/// The same for a JSON object; `name` is for messages.
[[nodiscard]] MethodsFile parse_methods_document(std::string_view json, const std::string& name);

/// Trains the n-gram models of the pairs. Corpora that are files are looked for in `folder`, that of the configuration;
/// their digests go into `files`. Throws InputError for a text that cannot be read.
void train_pairs(MethodsQuestion& question, const std::string& folder, std::vector<FileDigest>& files);

}  // namespace foredraft::inputs
