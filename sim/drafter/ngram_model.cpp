// SPDX-License-Identifier: Apache-2.0
#include "sim/drafter/drafter_definition.hpp"

namespace foredraft::sim::drafters {

DrafterDefinition ngram_model() {
  return {.entry = {.name = "ngram_model",
                    .summary = "an n-gram model of the same text, token by token (models.kind = ngram): gamma * c",
                    .source = "Leviathan2023, Sec. 4.3",
                    .cost = Drafting::autoregressive,
                    .parameters = {},
                    .process = false,
                    .token = true,
                    .text = true},
          .apply = nullptr};
}

}  // namespace foredraft::sim::drafters
