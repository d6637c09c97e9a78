// SPDX-License-Identifier: Apache-2.0
#include "core/digest.hpp"

#include <utility>

#include "core/files.hpp"

namespace foredraft {

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.finish();
}

FileDigest digest_text(std::string path, std::string_view text) { return {std::move(path), text.size(), sha256(text)}; }

std::string read_input(const std::string& path, std::vector<FileDigest>& files) {
  std::string text = read_file(path);
  files.push_back(digest_text(path, text));
  return text;
}

const std::string& read_input_once(const std::string& path, FileTexts& texts, std::vector<FileDigest>& files) {
  auto text = texts.find(path);
  if (text == texts.end()) text = texts.emplace(path, read_file(path)).first;
  files.push_back(digest_text(path, text->second));
  return text->second;
}

FileDigest digest_file(const std::string& path) {
  ResultReader file(path);
  Sha256 hash;
  std::uint64_t bytes = 0;
  for (std::string_view piece = file.read(); !piece.empty(); piece = file.read()) {
    hash.add(piece);
    bytes += piece.size();
  }
  return {path, bytes, hash.finish()};
}

}  // namespace foredraft
