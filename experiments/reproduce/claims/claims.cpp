// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <array>
#include <stdexcept>

#include "experiments/reproduce/claims/paper_claims.hpp"
#include "experiments/reproduce/experiments.hpp"

namespace foredraft::experiments {

ExperimentResult claims(const ExperimentSettings& settings) {
  TableAccount account("claims", "claims", {"paper", "claim"});
  const PublishedTable& table = account.published();
  for (const char* column : {"alpha", "gamma", "c"}) account.inputs(column);
  const std::array papers{leviathan_claims(), specdec_claims(settings), wagner_and_survey_claims()};
  for (std::size_t row = 0; row < table.size(); ++row) {
    const std::string& claim = table.text(row, "claim");
    bool answered = false;
    for (const PaperClaims& paper : papers) {
      if (const auto answer = paper.answers.find(claim); answer != paper.answers.end()) {
        account.cell(row, "value", answer->second(table, row));
        answered = true;
      }
      if (const auto wording = paper.wordings.find(claim); wording != paper.wordings.end()) {
        account.remark(account.row_name(row), wording->second);
        answered = true;
      }
    }
    if (!answered) throw std::logic_error(fmt::format("claims: nothing beside {}", claim));
  }
  return account.finish("Numbers that the papers claim in running text, and what follows from their own tables.");
}

}  // namespace foredraft::experiments
