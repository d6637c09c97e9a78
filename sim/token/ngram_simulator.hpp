// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/simulator.hpp"
#include "sim/token/token_simulation.hpp"

namespace foredraft::sim {

/// The token simulation of an NgramPair: the target writes text, the drafter drafts its next tokens.
///
/// Rules: rejection_sampling at temperature 1 or 0, greedy_match at temperature 0 (where both are the same); no rule
/// parameters. A block is 1,024 iterations on its own text and one unit of the tally, so units are independent. At
/// temperature 1 it is one text, whose first tokens are not counted. Greedy text continues from a prompt until it has
/// ngram::Prompts::passage_tokens, then from the next. The last one is completed, so a run at temperature 0 has up to
/// 63 iterations more per block than requested. Throws DomainError for other models, rules, temperatures or sizes.
[[nodiscard]] std::unique_ptr<Simulator> make_ngram_simulator(const TokenSimulation& simulation);

/// The token simulation of a PromptLookup: the target writes text whose drafts are copied from earlier text.
///
/// Rules and temperatures as for an n-gram pair. A block is 1,024 iterations on its own text and one unit of the tally,
/// so units are independent. The text begins with `window` tokens that the target generates without speculation, and
/// only the last `window` tokens are searched: at temperature 1 all iterations have the same distribution. Greedy text
/// continues from a prompt until it has ngram::Prompts::passage_tokens more, then from the next. The last one is
/// completed, so a run at temperature 0 has up to 63 iterations more per block than requested. Throws DomainError for
/// other models, rules, temperatures or sizes.
[[nodiscard]] std::unique_ptr<Simulator> make_prompt_lookup_simulator(const TokenSimulation& simulation);

}  // namespace foredraft::sim
