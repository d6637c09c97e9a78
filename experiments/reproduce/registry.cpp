// SPDX-License-Identifier: Apache-2.0
#include "experiments/reproduce/registry.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>

#include "experiments/reproduce/declaration.hpp"
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
  ExperimentResult result{.text = declared.text("caption") + ": listed. " + declared.text("listed") + "\n"};
  result.rows.push_back({.experiment = declared.id(),
                         .row = "whole table",
                         .column = "all",
                         .kind = Kind::out_of_reach,
                         .verdict = Verdict::shown,
                         .note = declared.text("listed")});
  return result;
}

}  // namespace

void ExperimentResult::add_table(const std::string& stem, const Table& table, const std::optional<std::string>& data) {
  artifacts.push_back({stem + ".csv", data ? *data : to_csv(table)});
  artifacts.push_back({stem + ".tex", to_latex(table)});
  artifacts.push_back({stem + ".md", to_markdown(table)});
}

const std::vector<ExperimentEntry>& experiment_registry() {
  static const std::vector<ExperimentEntry> experiments = [] {
    const TableCodes tables = merged({leviathan_tables(), emnlp_tables(), iclr_tables(), memory_tables(),
                                      wagner_tables(), survey_tables(), claims_table()});
    const FigureCodes figures = merged({leviathan_own_tables(), leviathan_figures(), ngram_checks(), rule_checks(),
                                        specdec_figures(), translation_figures(), wagner_figures(), survey_figures()});
    std::vector<ExperimentEntry> entries;
    for (const Declaration& declared : declarations()) {
      const auto table = tables.find(declared.id());
      const auto figure = figures.find(declared.id());
      const TableCode code = table == tables.end() ? nullptr : table->second;
      const FigureCode own = figure == figures.end() ? nullptr : figure->second;
      entries.push_back({declared.id(), declared.text("summary"), declared.has_figure(),
                         [&declared, code, own](const ExperimentSettings& settings) {
                           if (own != nullptr) return own(declared, settings);
                           if (declared.says("listed")) return listed(declared);
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
