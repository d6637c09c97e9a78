// SPDX-License-Identifier: Apache-2.0
#include "core/decoding_cost.hpp"

#include <stdexcept>

#include "core/check.hpp"
#include "foredraft/words.hpp"

namespace foredraft {

void check_cost(const DecodingCost& cost) {
  check_positive("iteration", cost.iteration);
  check_nonnegative("draft_pass", cost.draft_pass);
  check_nonnegative("sequence", cost.sequence);
  check_nonnegative("plain_sequence", cost.plain_sequence);
}

std::string_view to_string(Convention convention) { return convention == Convention::bonus ? "bonus" : "no_bonus"; }

std::string_view to_string(Drafting drafting) {
  switch (drafting) {
    case Drafting::autoregressive:
      return "autoregressive";
    case Drafting::block:
      return "block";
    case Drafting::free:
      return "free";
  }
  throw std::logic_error("unknown drafting cost");
}

std::optional<Convention> parse_convention(std::string_view text) {
  for (const auto convention : {Convention::bonus, Convention::no_bonus}) {
    if (text == to_string(convention)) return convention;
  }
  return std::nullopt;
}

std::optional<Drafting> parse_drafting(std::string_view text) {
  for (const auto drafting : {Drafting::autoregressive, Drafting::block, Drafting::free}) {
    if (text == to_string(drafting)) return drafting;
  }
  return std::nullopt;
}

}  // namespace foredraft
