// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/digest.hpp"

/// Text to train n-gram models, with its description for a manifest.
namespace foredraft::inputs {

struct Corpus {
  std::vector<FileDigest> files;   ///< sorted by path (symbolic links resolved), without duplicates in content
  std::vector<std::string> texts;  ///< one document per file
};

/// Reads files, and all regular files below folders; inside a folder, symbolic links to folders are not followed. If
/// there are more than `max_bytes` (1 .. 2^40), uses files spread evenly over the sorted list. Throws DomainError,
/// which names the file or folder, if one cannot be read or is not text (has control bytes below 0x20 other than
/// whitespace, backspace and escape), and for a corpus without text.
[[nodiscard]] Corpus read_corpus(std::span<const std::filesystem::path> paths, std::uint64_t max_bytes);

/// Default texts, installed with packages that the build needs.
enum class DefaultCorpus {
  prose,  ///< the licenses of base-files and the manuals of cmake-data
  code,   ///< the headers of Boost, except generated ones (above 32 KiB, or in `preprocessed` folders)
};

/// Maximum size of a default corpus, so that all models of a study are trained in a few seconds.
inline constexpr std::uint64_t default_corpus_bytes = 4'000'000;

/// Throws DomainError if the packages are not installed.
[[nodiscard]] Corpus default_corpus(DefaultCorpus kind);

}  // namespace foredraft::inputs
