// SPDX-License-Identifier: Apache-2.0
#include "core/digest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <array>
#include <stdexcept>
#include <utility>

#include "core/files.hpp"
#include "core/problems.hpp"

namespace foredraft {
namespace {

EVP_MD_CTX* context_of(void* context) { return static_cast<EVP_MD_CTX*>(context); }

void require(int status) {
  if (status != 1) throw RunError("SHA-256 is not available from OpenSSL");
}

}  // namespace

void Sha256::Closer::operator()(void* context) const { EVP_MD_CTX_free(context_of(context)); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require(context_ != nullptr ? EVP_DigestInit_ex(context_of(context_.get()), EVP_sha256(), nullptr) : 0);
}

void Sha256::add(std::string_view bytes) {
  require(EVP_DigestUpdate(context_of(context_.get()), bytes.data(), bytes.size()));
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  require(EVP_DigestFinal_ex(context_of(context_.get()), digest.data(), &length));
  std::string text;
  for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

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
