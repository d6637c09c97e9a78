// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/simulator.hpp"
#include "sim/token/token_simulation.hpp"

namespace foredraft::sim {

/// The token simulation of an NgramPair: the target writes text, the drafter proposes the next tokens of it.
///
/// Rules: rejection_sampling at temperature 1 or 0, greedy_match at temperature 0 (where both are the same); no rule
/// parameters. A block is 1,024 iterations on text of its own and one unit of the tally, so units are independent.
/// At temperature 1 it is one text, not counted from its first tokens on. Greedy text runs from a prompt until it has
/// ngram::Prompts::passage_tokens, then from the next; the last one is finished too, so that a run at temperature 0 has
/// up to 63 iterations more a block than asked for.
/// Throws DomainError on models, a rule, a temperature or sizes outside these.
[[nodiscard]] std::unique_ptr<Simulator> make_ngram_simulator(const TokenSimulation& simulation);

/// The token simulation of a PromptLookup: the target writes text whose drafts are copied from what it wrote before.
///
/// Rules and temperatures as for an n-gram pair. A block is 1,024 iterations on text of its own and one unit of the
/// tally, so units are independent. The text begins with `window` tokens that the target wrote by itself, and only the
/// last `window` tokens are ever looked through: at temperature 1 no iteration differs in law from the next. Greedy
/// text runs from a prompt until it has ngram::Prompts::passage_tokens more, then from the next; the last one is
/// finished, so that a run at temperature 0 has up to 63 iterations more a block than asked for. Throws DomainError on
/// models, a rule, a temperature or sizes outside these.
[[nodiscard]] std::unique_ptr<Simulator> make_prompt_lookup_simulator(const TokenSimulation& simulation);

}  // namespace foredraft::sim
