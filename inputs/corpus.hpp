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
  std::vector<FileDigest> files;   ///< sorted by path (symbolic links resolved), no two of equal content
  std::vector<std::string> texts;  ///< one document per file
};

/// Files, and all regular files below folders; symbolic links to folders inside a folder are not followed. Of more than
/// `max_bytes` (1 .. 2^40), files spread evenly over the sorted list are taken. Throws DomainError, naming the file or
/// folder, for one that cannot be read or is not text (another control byte than layout and escape), and for a corpus
/// without any text.
[[nodiscard]] Corpus read_corpus(std::span<const std::filesystem::path> paths, std::uint64_t max_bytes);

/// Default texts: those installed by packages that the build needs.
enum class DefaultCorpus {
  prose,  ///< the licenses of base-files and the manuals of cmake-data
  code,   ///< the headers of Boost, without those written by a machine: above 32 KiB, or in `preprocessed` folders
};

/// Maximum size of a default corpus: all models of a study are then trained in a few seconds.
inline constexpr std::uint64_t default_corpus_bytes = 4'000'000;

/// Throws DomainError if the packages are not installed.
[[nodiscard]] Corpus default_corpus(DefaultCorpus kind);

}  // namespace foredraft::inputs
