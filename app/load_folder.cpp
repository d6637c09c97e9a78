// SPDX-License-Identifier: Apache-2.0
#include "app/load_folder.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/prediction.hpp"
#include "app/prediction_folder.hpp"
#include "app/texts/texts.hpp"
#include "core/csv.hpp"
#include "core/json_values.hpp"
#include "latency/engines/engines.hpp"

namespace foredraft::app {
namespace {

using answers::AtLoad;
using answers::LoadPrediction;
using answers::LoadQuestion;
using nlohmann::ordered_json;

constexpr double ms_of_us = 1e-3;

/// The number of clients, or requests per second.
double load_of(const LoadQuestion& question) {
  return question.arrivals.kind == ArrivalKind::closed ? static_cast<double>(question.arrivals.clients)
                                                       : question.arrivals.rate_per_s;
}

std::string_view unit_of(const LoadQuestion& question) {
  return question.arrivals.kind == ArrivalKind::closed ? "concurrent requests" : "requests/s";
}

ordered_json length_content(const TokenCount& count) { return {{"tokens", count.tokens}, {"p95", count.p95}}; }

ordered_json load_content(const LoadQuestion& question) {
  return {{"kind", unit_of(question)},
          {"load", load_of(question)},
          {"prompt", length_content(question.prompt)},
          {"output", length_content(question.output)},
          {"prefix_hit", question.prefix_hit},
          {"engine", question.engine ? ordered_json(latency::engine_toml(*question.engine)) : ordered_json(nullptr)},
          {"graph_tokens", value_or_null(question.graph_tokens)},
          {"schedule", answers::schedule_json(question.schedule)},
          {"switch_us", question.switch_us},
          {"switch_margin", question.switch_margin},
          {"slo_ttft_ms", value_or_null(question.objective.ttft_ms)},
          {"slo_tpot_ms", value_or_null(question.objective.tpot_ms)},
          {"gpu_hour_price", value_or_null(question.gpu_hour_price)},
          {"max_batch", value_or_null(question.max_batch)},
          {"percentiles", question.percentiles}};
}

/// An empty cell for an unknown value.
void known_cell(DataText& data, double value) { data.cell(std::isfinite(value) ? std::optional(value) : std::nullopt); }

void add_interval(DataText& data, const std::optional<Interval>& interval) {
  data.cell(interval ? std::optional(interval->low) : std::nullopt);
  data.cell(interval ? std::optional(interval->high) : std::nullopt);
}

void add_means(DataText& data, const LoadQuestion& question, const AtLoad& at) {
  const analytic::LoadEquilibrium& mean = at.equilibrium;
  data.cell(at.speedup ? std::optional(at.speedup->request) : std::nullopt);
  add_interval(data, at.request_interval);
  known_cell(data, mean.requests_per_s * question.output.tokens);
  for (const double us : {mean.tpot_us, mean.ttft_us, mean.request_us}) known_cell(data, us * ms_of_us);
  known_cell(data, mean.in_flight);
  data.cell(at.cost_per_million);
}

constexpr std::initializer_list<const char*> mean_columns = {
    "speedup", "low",        "high",      "output_tokens_per_s",           "tpot_ms",
    "ttft_ms", "request_ms", "in_flight", "cost_per_million_output_tokens"};

/// The loads of the curve and that of the question, in ascending order.
std::vector<const LoadPrediction*> with_asked(std::span<const LoadPrediction> curve, const LoadPrediction& asked) {
  std::vector<const LoadPrediction*> loads;
  const double load = load_of(asked.question);
  for (const LoadPrediction& one : curve) {
    if (load_of(one.question) != load) loads.push_back(&one);
  }
  loads.push_back(&asked);
  std::ranges::sort(loads, {}, [](const LoadPrediction* one) { return load_of(one->question); });
  return loads;
}

/// A row for each draft length at each load. Cells are empty if the server is overloaded.
std::string curves_csv(const std::vector<const LoadPrediction*>& loads, const LoadPrediction& asked) {
  std::vector<std::string> columns{"load", "unit", "asked", "gamma"};
  columns.insert(columns.end(), mean_columns.begin(), mean_columns.end());
  columns.emplace_back("interval_level");
  DataText data(std::move(columns));
  for (const LoadPrediction* one : loads) {
    const LoadPrediction& prediction = *one;
    for (const AtLoad& at : prediction.lengths) {
      data.row().cell(load_of(prediction.question)).cell(unit_of(prediction.question));
      data.cell(one == &asked ? "yes" : "no");
      data.cell(static_cast<double>(at.gamma));
      if (at.answers()) {
        add_means(data, prediction.question, at);
      } else {
        for (std::size_t i = 0; i < mean_columns.size(); ++i) data.cell("");
      }
      data.cell(prediction.evidence.interval_level);
    }
  }
  return data.csv();
}

/// Parts of the time per token of a request, in ms.
std::string time_csv(const LoadPrediction& prediction) {
  DataText data({"load", "unit", "gamma", "verification_ms", "drafting_ms", "prompts_ms", "engine_ms", "best"});
  for (const AtLoad& at : prediction.lengths) {
    if (!at.answers()) continue;
    data.row().cell(load_of(prediction.question)).cell(unit_of(prediction.question));
    data.cell(static_cast<double>(at.gamma));
    const analytic::LoadShares& shares = at.equilibrium.shares;
    const double token_ms = at.equilibrium.iteration_us * ms_of_us / at.tokens;
    for (const double share : {shares.verification, shares.drafting, shares.prompts, shares.engine}) {
      known_cell(data, share * token_ms);
    }
    data.cell(at.gamma == prediction.best_latency ? "yes" : "no");
  }
  return data.csv();
}

void add_percentiles(DataText& data, const std::optional<Estimates>& served) {
  for (const auto& [p50, p95, p99] :
       {std::array{&Estimates::first_token_p50_ms, &Estimates::first_token_p95_ms, &Estimates::first_token_p99_ms},
        std::array{&Estimates::tpot_p50_ms, &Estimates::tpot_p95_ms, &Estimates::tpot_p99_ms},
        std::array{&Estimates::latency_p50_ms, &Estimates::latency_p95_ms, &Estimates::latency_p99_ms}}) {
    for (const auto member : {p50, p95, p99}) {
      data.cell(served ? std::optional(((*served).*member).mean) : std::nullopt);
    }
  }
}

/// All numbers at the load of the question.
std::string lengths_csv_of(const LoadPrediction& prediction) {
  std::vector<std::string> columns{"gamma", "tokens_per_iteration", "max_batch", "beyond_graphs", "memory_bytes"};
  columns.insert(columns.end(), mean_columns.begin(), mean_columns.end());
  for (const char* time : {"ttft", "tpot", "request"}) {
    for (const char* percentile : {"p50", "p95", "p99"}) columns.push_back(fmt::format("{}_{}_ms", time, percentile));
  }
  columns.emplace_back("requests_per_s_per_gpu");
  DataText data(std::move(columns));
  for (const AtLoad& at : prediction.lengths) {
    data.row().cell(static_cast<double>(at.gamma)).cell(at.tokens).cell(static_cast<double>(at.max_batch));
    data.cell(at.beyond_graphs ? "yes" : "no").cell(at.memory_bytes);
    if (at.answers()) {
      add_means(data, prediction.question, at);
    } else {
      for (std::size_t i = 0; i < mean_columns.size(); ++i) data.cell("");
    }
    add_percentiles(data, at.served);
    known_cell(data, at.requests_per_s_per_gpu);
  }
  return data.csv();
}

}  // namespace

experiments::ResultFolder::Kind load_folder_kind(const LoadQuestion& question, std::span<const FileDigest> files,
                                                 bool valid) {
  experiments::ResultFolder::Kind kind = folder_kind(question.pair, files.front(), valid);
  kind.schema = load_schema;
  kind.content["load"] = load_content(question);
  kind.content["files"] = experiments::files_json({files.begin(), files.end()});
  return kind;
}

void write_load(experiments::ResultFolder& folder, const LoadPrediction& prediction,
                std::span<const LoadPrediction> curve) {
  folder.write("load.txt", to_text(prediction));
  folder.write("load.json", experiments::document_text(to_json(prediction)));
  folder.write("load-lengths.csv", lengths_csv_of(prediction));
  const bool served = std::ranges::any_of(prediction.lengths, &AtLoad::answers);
  if (served) folder.write("load-time.csv", time_csv(prediction));
  const std::vector<const LoadPrediction*> loads = with_asked(curve, prediction);
  const bool drawn = std::ranges::any_of(loads, [](const LoadPrediction* one) {
    return std::ranges::any_of(one->lengths, [](const AtLoad& at) { return at.gamma > 0 && at.speedup; });
  });
  if (drawn) folder.write("load-curves.csv", curves_csv(loads, prediction));
}

}  // namespace foredraft::app
