// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/registry.hpp"

#include <fmt/format.h>
#include <optional>
#include <stdexcept>

#include "experiments/reproduce/declaration.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/table_account.hpp"

namespace foredraft::experiments {
namespace {

/// A table that cannot be reproduced and is only listed, with the reason.
ExperimentResult listed(const Declaration& declared) {
  const std::string& why = declared.text("listed");
  return {.text = fmt::format("{}: listed. {}\n", declared.text("caption"), why),
          .rows = {{.experiment = declared.id(),
                    .row = "whole table",
                    .column = "all",
                    .kind = Kind::out_of_reach,
                    .note = why}}};
}

ExperimentResult run_code(const Declaration& declared, const std::optional<ExperimentCode>& code,
                          const ExperimentSettings& settings) {
  if (declared.has("listed")) return listed(declared);
  if (code && code->index() == 1) {
    FigureAccount figure(declared);
    std::get<1> (*code)(figure, settings);
    return figure.finish();
  }
  TableAccount account(declared);
  if (code) std::get<0> (*code)(account, settings);
  return account.finish();
}

}  // namespace

void ExperimentResult::add_table(const std::string& stem, const Table& table, std::string csv) {
  artifacts.push_back({stem + ".csv", std::move(csv)});
  artifacts.push_back({stem + ".tex", to_latex(table)});
  artifacts.push_back({stem + ".md", to_markdown(table)});
}

void ExperimentResult::append(const ExperimentResult& part) {
  text += part.text;
  artifacts.insert(artifacts.end(), part.artifacts.begin(), part.artifacts.end());
}

FigureAccount::FigureAccount(const Declaration& declared, const std::string& caption)
    : declared_(declared),
      table_(declared.table(caption.empty() && declared.has("columns") ? declared.text("caption") : caption)),
      data_(declared.data()) {}

ExperimentResult FigureAccount::finish() {
  const std::string& id = declared_.id();
  const bool has_data = declared_.has("data");
  if (declared_.has("columns")) {
    result_.add_table(id, table_, has_data ? data_.csv() : to_csv(table_));
  } else {
    result_.artifacts.push_back({id + ".csv", data_.csv()});
  }
  return std::move(result_);
}

const std::vector<ExperimentEntry>& experiment_registry() {
  static const std::vector<ExperimentEntry> experiments = [] {
    ExperimentCodes codes;
    for (ExperimentCodes part : {leviathan(), ngram_studies(), rule_checks(), specdec_tables(), specdec_figures(),
                                 wagner(), surveys(), verification_examples()}) {
      codes.merge(part);
    }
    std::vector<ExperimentEntry> entries;
    for (const Declaration& declared : declarations()) {
      const auto found = codes.find(declared.id());
      const auto code = found == codes.end() ? std::nullopt : std::optional(found->second);
      entries.push_back({declared.id(), declared.text("summary"), declared.has_figure(),
                         [&declared, code](const auto& settings) { return run_code(declared, code, settings); }});
    }
    return entries;
  }();
  return experiments;
}

ExperimentResult run_experiment(std::string_view id, const ExperimentSettings& settings) {
  for (const ExperimentEntry& entry : experiment_registry()) {
    if (entry.id == id) return entry.run(settings);
  }
  throw std::logic_error(fmt::format("no experiment {}", id));
}

}  // namespace foredraft::experiments
