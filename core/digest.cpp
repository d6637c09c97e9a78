// SPDX-License-Identifier: Apache-2.0
#include "core/digest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdexcept>
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

DataText& DataText::row() {
  rows_.emplace_back();
  return *this;
}

DataText& DataText::add(std::string cell) {
  rows_.back().push_back(std::move(cell));
  return *this;
}

DataText& DataText::cell(const std::optional<Estimate>& estimate) {
  return estimate ? cell(estimate->mean).cell(estimate->standard_error) : add("").add("");
}

std::string DataText::csv() const {
  std::string text = csv_header(columns_);
  for (const auto& cells : rows_) {
    if (cells.size() != columns_.size()) throw std::logic_error("data text: a row has the wrong number of cells");
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

}  // namespace foredraft
