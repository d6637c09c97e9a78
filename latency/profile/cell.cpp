// SPDX-License-Identifier: Apache-2.0
#include "latency/profile/cell.hpp"

#include <fmt/format.h>

namespace foredraft::latency {

std::string_view to_string(Role role) {
  switch (role) {
    case Role::decoder_pass:
      return "decoder_pass";
    case Role::autoregressive_drafting:
      return "autoregressive_drafting";
    case Role::block_drafting:
      return "block_drafting";
    case Role::head_drafting:
      return "head_drafting";
    case Role::encoder_pass:
      return "encoder_pass";
  }
  return "";
}

std::string_view to_string(Cache cache) { return cache == Cache::hot ? "hot" : "cold"; }

std::string_view to_string(Launch launch) { return launch == Launch::graph ? "graph" : "eager"; }

std::string to_text(const Cell& cell) {
  const std::string source = cell.source_length > 0 ? fmt::format(" source_length {}", cell.source_length) : "";
  return fmt::format("{} {} {} batch {} tokens {} context {}{} {} {}", cell.model, to_string(cell.role), cell.dtype,
                     cell.batch, cell.tokens, cell.context, source, to_string(cell.cache), to_string(cell.launch));
}

std::string to_text(const VerificationCell& cell) {
  return fmt::format("{} {} batch {} gamma {} vocabulary {} {} {} {}", cell.verifier, cell.dtype, cell.batch,
                     cell.gamma, cell.vocabulary, cell.logits, to_string(cell.cache), to_string(cell.launch));
}

}  // namespace foredraft::latency
