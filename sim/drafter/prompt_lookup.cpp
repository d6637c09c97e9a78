// SPDX-License-Identifier: Apache-2.0
#include "sim/drafter/drafter_definition.hpp"

namespace foredraft::sim::drafters {

DrafterDefinition prompt_lookup() {
  return {.entry = {.name = "prompt_lookup",
                    .summary = "copies what followed the last occurrence of the longest matching end of the text: free",
                    .source = "Saxena2023; Yang2023",
                    .cost = Drafting::free,
                    .parameters = {{.name = "match",
                                    .default_value = 3.0,
                                    .minimum = 1.0,
                                    .maximum = 64.0,
                                    .whole = true,
                                    .summary = "prompt_lookup: longest end of the text that is looked for, in tokens"},
                                   {.name = "window",
                                    .default_value = 1024.0,
                                    .minimum = 16.0,
                                    .maximum = 65536.0,
                                    .whole = true,
                                    .summary = "prompt_lookup: tokens of prompt and text that are looked through"}},
                    .process = false,
                    .token = true,
                    .text = true},
          .apply = nullptr};
}

}  // namespace foredraft::sim::drafters
