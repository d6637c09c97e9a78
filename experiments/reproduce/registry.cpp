// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/registry.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>

#include "experiments/reproduce/declaration.hpp"
#include "experiments/reproduce/figure_account.hpp"
#include "experiments/reproduce/table_account.hpp"

namespace foredraft::experiments {
namespace {

template <class Codes>
Codes merged(std::initializer_list<Codes> parts) {
  Codes all;
  for (const Codes& part : parts) all.insert(part.begin(), part.end());
  return all;
}

/// A table without numbers to reproduce.
ExperimentResult listed(const Declaration& declared) {
  const std::string why = declared.text("listed");
  return {.text = fmt::format("{}: listed. {}\n", declared.text("caption"), why),
          .rows = {{.experiment = declared.id(),
                    .row = "whole table",
                    .column = "all",
                    .kind = Kind::out_of_reach,
                    .note = why}}};
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

FigureAccount::FigureAccount(const Declaration& declared, const Fillings& caption)
    : declared_(declared), table_(declared.table(caption)), data_(declared.data()) {}

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
    const TableCodes tables = merged({leviathan_tables(), emnlp_tables(), iclr_tables(), memory_tables(),
                                      wagner_tables(), survey_tables(), claims_table()});
    const FigureCodes figures = merged(
        {leviathan_figures(), ngram_studies(), rule_checks(), specdec_figures(), wagner_figures(), survey_figures()});
    std::vector<ExperimentEntry> entries;
    for (const Declaration& declared : declarations()) {
      const auto table = tables.find(declared.id());
      const auto figure = figures.find(declared.id());
      const TableCode code = table == tables.end() ? nullptr : table->second;
      const FigureCode own = figure == figures.end() ? nullptr : figure->second;
      entries.push_back({declared.id(), declared.text("summary"), declared.has_figure(),
                         [&declared, code, own](const ExperimentSettings& settings) {
                           if (own != nullptr) {
                             FigureAccount drawn(declared);
                             own(drawn, settings);
                             return drawn.finish();
                           }
                           if (declared.has("listed")) return listed(declared);
                           TableAccount account(declared);
                           if (code != nullptr) code(account, settings);
                           return account.finish();
                         }});
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
