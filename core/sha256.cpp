// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <openssl/evp.h>
#include <array>

#include "core/digest.hpp"
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

}  // namespace foredraft
