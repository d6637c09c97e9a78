// SPDX-License-Identifier: Apache-2.0
#include "inputs/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/check.hpp"
#include "core/digest.hpp"

namespace foredraft::inputs {
namespace {

namespace fs = std::filesystem;

struct Candidate {
  fs::path path;
  std::uint64_t bytes;
};

[[noreturn]] void reject(const fs::path& path, std::string_view must) {
  throw DomainError(fmt::format("invalid corpus={} (must {})", path.string(), must));
}

/// All regular files at or below `path`.
void add_files(const fs::path& path, std::vector<Candidate>& files) {
  const auto add = [&](const fs::path& file) { files.push_back({fs::canonical(file), fs::file_size(file)}); };
  try {
    if (!fs::is_directory(path)) {
      if (fs::exists(path) && !fs::is_regular_file(path)) reject(path, "be a regular file or a folder");
      add(path);
      return;
    }
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) add(entry.path());
    }
  } catch (const fs::filesystem_error& error) {
    reject(path, fmt::format("be a file or folder that can be read: {}", error.code().message()));
  }
}

void sort_by_path(std::vector<Candidate>& files) {
  // The native string, byte by byte: fs::path compares element by element.
  std::ranges::sort(files, [](const Candidate& a, const Candidate& b) { return a.path.native() < b.path.native(); });
  const auto repeated = std::ranges::unique(files, {}, &Candidate::path);
  files.erase(repeated.begin(), repeated.end());
}

/// All files if they fit into `max_bytes`, else as many as fit, spread over the list.
std::vector<Candidate> spread_evenly(const std::vector<Candidate>& files, std::uint64_t max_bytes) {
  // Multiples of the golden ratio modulo 1: files with values below any threshold are spread evenly over the list.
  constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15U;
  std::vector<std::size_t> order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [](std::size_t a, std::size_t b) { return a * golden_ratio < b * golden_ratio; });
  std::vector<Candidate> taken;
  std::uint64_t bytes = 0;
  for (const std::size_t i : order) {
    if (files[i].bytes > max_bytes - bytes) continue;
    bytes += files[i].bytes;
    taken.push_back(files[i]);
  }
  sort_by_path(taken);
  return taken;
}

bool is_control_of_no_text(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool layout = byte >= '\b' && byte <= '\r';
  return byte < ' ' && !layout && byte != '\x1b';
}

/// Reads as many bytes as the file had when it was found, because it may grow.
std::string read_text(const Candidate& file) {
  const fs::path& path = file.path;
  std::ifstream stream(path, std::ios::binary);
  std::string text(file.bytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.is_open() || stream.bad()) reject(path, "be a file that can be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  const auto bad = std::ranges::find_if(text, is_control_of_no_text);
  if (bad != text.end()) {
    reject(path, fmt::format("be text: byte {} is 0x{:02x}", bad - text.begin(), static_cast<unsigned char>(*bad)));
  }
  return text;
}

bool has_word(const std::string& text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) > ' '; });
}

/// `files` must be sorted by path.
Corpus read_files(const std::vector<Candidate>& files) {
  Corpus corpus;
  std::unordered_set<std::string> seen;
  for (const Candidate& file : files) {
    std::string text = read_text(file);
    FileDigest digest = digest_text(file.path.string(), text);
    if (!has_word(text) || !seen.insert(digest.sha256).second) continue;
    corpus.files.push_back(std::move(digest));
    corpus.texts.push_back(std::move(text));
  }
  return corpus;
}

std::vector<Candidate> prose_files() {
  std::vector<Candidate> files;
  add_files("/usr/share/common-licenses", files);
  std::vector<Candidate> manuals;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/share")) {
    const fs::path folder = entry.path() / "Help";
    if (entry.path().filename().string().starts_with("cmake") && fs::is_directory(folder)) add_files(folder, manuals);
  }
  std::ranges::copy_if(manuals, std::back_inserter(files),
                       [](const Candidate& file) { return file.path.extension() == ".rst"; });
  return files;
}

std::vector<Candidate> code_files() {
  constexpr std::uint64_t largest_written_by_hand = 32U << 10U;
  std::vector<Candidate> files;
  add_files("/usr/include/boost", files);
  std::erase_if(files, [](const Candidate& file) {
    return file.bytes > largest_written_by_hand || file.path.extension() != ".hpp" ||
           file.path.native().find("/preprocessed/") != std::string::npos;
  });
  return files;
}

Corpus read_candidates(std::vector<Candidate> files, std::uint64_t max_bytes) {
  sort_by_path(files);
  const std::vector<Candidate> taken = spread_evenly(files, max_bytes);
  Corpus corpus = read_files(taken);
  if (corpus.files.empty()) {
    throw DomainError(
        fmt::format("invalid corpus=empty (must hold text: {} files found, {} of them within {} bytes, "
                    "none with a word)",
                    files.size(), taken.size(), max_bytes));
  }
  return corpus;
}

}  // namespace

Corpus read_corpus(std::span<const fs::path> paths, std::uint64_t max_bytes) {
  check_range("max_bytes", static_cast<std::int64_t>(max_bytes), 1, std::int64_t{1} << 40);
  std::vector<Candidate> files;
  for (const fs::path& path : paths) add_files(path, files);
  return read_candidates(std::move(files), max_bytes);
}

Corpus default_corpus(DefaultCorpus kind) {
  return read_candidates(kind == DefaultCorpus::prose ? prose_files() : code_files(), default_corpus_bytes);
}

}  // namespace foredraft::inputs
