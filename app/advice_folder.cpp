// SPDX-License-Identifier: Apache-2.0
#include "app/advice_folder.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "app/texts/texts.hpp"
#include "core/csv.hpp"
#include "core/digest.hpp"

namespace foredraft::app {
namespace {

using nlohmann::ordered_json;

std::string_view yes_or_no(bool yes) { return yes ? "yes" : "no"; }

/// Adds the values of a document at these JSON pointers; a cell is empty if the document has no such value.
void add_cells(DataText& data, const ordered_json& row, std::initializer_list<const char*> places) {
  for (const char* place : places) {
    const ordered_json::json_pointer at(place);
    const ordered_json value = row.contains(at) ? row.at(at) : ordered_json(nullptr);
    if (value.is_number()) {
      data.cell(value.get<double>());
    } else if (value.is_boolean()) {
      data.cell(yes_or_no(value.get<bool>()));
    } else {
      data.cell(value.is_string() ? value.get<std::string>() : "");
    }
  }
}

std::string acceptance_length_csv(const ordered_json& advice) {
  DataText data({"gamma", "tokens_per_iteration", "low", "high", "source", "extrapolated"});
  for (const auto& at : advice.at("tokens_per_iteration_by_gamma")) {
    add_cells(data.row(), at, {"/gamma", "/value", "/low", "/high", "/source", "/extrapolated"});
  }
  return data.csv();
}

std::string marginal_csv(const ordered_json& advice) {
  DataText data({"position", "marginal", "low", "high"});
  double position = 0.0;
  for (const auto& at : advice.at("marginal"))
    add_cells(data.row().cell(++position), at, {"/value", "/ci95/0", "/ci95/1"});
  return data.csv();
}

std::string strata_csv(const answers::Advice& advice) {
  DataText data({"dimension", "name", "observations", "verification_steps", "tokens_per_iteration",
                 "tokens_per_iteration_standard_error"});
  for (const answers::StratumTokens& one : advice.strata) {
    data.row().cell(one.dimension).cell(one.name).cell(static_cast<double>(one.observations)).cell(one.steps);
    data.cell(std::optional(one.tokens));
  }
  return data.csv();
}

/// The chain of factors of each load, from the promised speedup in the first row to the measured one in the last.
std::string speedup_chain_csv(const answers::Advice& advice, const ordered_json& loads) {
  DataText data({"load", "batch", "gamma", "factor", "value", "standard_error", "share"});
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const answers::LoadAdvice& load = advice.loads[i];
    if (!load.chain) continue;
    const auto row = [&]() -> DataText& {
      add_cells(data.row().cell(load.name), loads.at(i), {"/batch", "/gamma"});
      return data;
    };
    row().cell("promised").cell(load.chain->promised).cell(load.tokens->standard_error).cell("");
    for (const auto& link : loads.at(i).at("explanation")) {
      add_cells(row(), link, {"/factor", "/value", "/standard_error", "/share"});
    }
    row().cell("measured").cell(std::optional(load.chain->speedup)).cell("");
  }
  return data.csv();
}

/// With several drafters, the loads of each are separate.
std::string speedup_by_load_csv(const answers::Advice& advice, const ordered_json& loads) {
  DataText data({"load", "batch", "gamma", "speedup", "low", "high", "iteration_time", "use"});
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const answers::LoadAdvice& load = advice.loads[i];
    for (std::size_t k = 0; k < load.by_gamma.size(); ++k) {
      const std::string& drafter = advice.curves[load.by_gamma[k].curve].name;
      const bool named = advice.curves.size() > 1 && !drafter.empty();
      add_cells(data.row().cell(named ? load.name + ", " + drafter : load.name), loads.at(i), {"/batch"});
      add_cells(data, loads.at(i).at("speedup_by_gamma").at(k),
                {"/gamma", "/value", "/low", "/high", "/iteration_time"});
      data.cell(yes_or_no(load.by_gamma[k].chosen));
    }
  }
  return data.csv();
}

/// A row for each logged setting of each load. Unknown standard errors are empty.
std::string loads_csv(const answers::Advice& advice, const ordered_json& loads) {
  DataText data({"load", "batch", "request_rate_per_s", "run", "gamma", "tokens_per_iteration",
                 "tokens_per_iteration_standard_error", "iteration_ms", "iteration_ms_standard_error", "plain_ms",
                 "plain_ms_standard_error", "speedup", "speedup_standard_error"});
  const auto cell = [&](const analytic::ClusteredEstimate* estimate) {
    if (estimate == nullptr) {
      data.cell(std::optional<Estimate>{});
    } else {
      const bool known = !is_assumed(*estimate);
      data.cell(std::optional(Estimate{estimate->value, known ? uncertainty_of(*estimate).standard_error
                                                              : std::numeric_limits<double>::quiet_NaN()}));
    }
  };
  for (std::size_t i = 0; i < advice.loads.size(); ++i) {
    const answers::LoadAdvice& load = advice.loads[i];
    for (std::size_t k = 0; k < load.logged.size(); ++k) {
      const answers::LoggedRun& logged = load.logged[k];
      const answers::RunEstimates& run = advice.runs[logged.run];
      add_cells(data.row().cell(load.name), loads.at(i), {"/batch", "/request_rate_per_s"});
      add_cells(data, loads.at(i).at("runs").at(k), {"/name", "/gamma"});
      data.cell(run.run.tokens);
      cell(run.estimate("iteration_ms"));
      cell(load.plain ? advice.runs[*load.plain].estimate("tpot_ms") : nullptr);
      cell(logged.speedup ? &*logged.speedup : nullptr);
    }
  }
  return data.csv();
}

}  // namespace

experiments::ResultFolder::Kind advice_kind(const answers::AdviceQuestion& question) {
  ordered_json content{{"logs", ordered_json::array()}, {"plain", ordered_json::array()}};
  for (const logs::ObservedLog& log : question.logs) content["logs"].push_back(log.sha256);
  for (const logs::ObservedLog& log : question.plain) content["plain"].push_back(log.sha256);
  return {.schema = "foredraft.advice/1", .content = std::move(content)};
}

std::vector<std::pair<std::string, std::string>> advice_tables(const answers::Advice& advice) {
  const ordered_json json = to_json(advice, "");
  const auto& loads = json.at("loads");
  std::vector<std::pair<std::string, std::string>> tables{{"loads.csv", loads_csv(advice, loads)}};
  const bool by_gamma =
      std::ranges::any_of(advice.loads, [](const answers::LoadAdvice& load) { return !load.by_gamma.empty(); });
  const bool explained =
      std::ranges::any_of(advice.loads, [](const answers::LoadAdvice& load) { return load.chain.has_value(); });
  if (!advice.strata.empty()) tables.emplace_back("strata.csv", strata_csv(advice));
  if (!json.at("marginal").empty()) tables.emplace_back("marginal.csv", marginal_csv(json));
  if (!json.at("tokens_per_iteration_by_gamma").empty())
    tables.emplace_back("acceptance-length.csv", acceptance_length_csv(json));
  if (explained) tables.emplace_back("speedup-chain.csv", speedup_chain_csv(advice, loads));
  if (by_gamma) tables.emplace_back("speedup-by-load.csv", speedup_by_load_csv(advice, loads));
  return tables;
}

void write_advice(experiments::ResultFolder& folder, const answers::Advice& advice, std::string_view settings,
                  std::string_view engine_version) {
  folder.write("advice.json", experiments::document_text(to_json(advice, engine_version)));
  folder.write("advice.txt", to_text(advice, settings));
  for (const auto& [name, table] : advice_tables(advice)) folder.write(name, table);
}

}  // namespace foredraft::app
