// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/load_prediction.hpp"
#include "answers/prediction.hpp"
#include "app/texts/texts.hpp"
#include "core/numbers.hpp"
#include "core/readable.hpp"
#include "core/table.hpp"
#include "latency/engines/engines.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::app {
namespace {

using answers::AtLoad;
using answers::LoadPrediction;
using answers::LoadQuestion;

bool is_closed(const LoadQuestion& question) { return question.arrivals.kind == ArrivalKind::closed; }

std::string length_name(std::int64_t gamma) { return gamma == 0 ? "no speculation" : fmt::format("K = {}", gamma); }

std::string short_ms(double ms) { return decimal_text(ms, ms < 100.0 ? 1 : 0); }

/// "13.5 ms", "1.61 s"
std::string time_text(double us) {
  constexpr double us_of_ten_seconds = 1e7;
  return us < us_of_ten_seconds ? short_ms(us / 1e3) + " ms" : decimal_text(us / 1e6, 1) + " s";
}

/// "1.39x (1.10 to 1.68)"
std::string load_speedup_text(double speedup, const std::optional<Interval>& interval) {
  std::string text = decimal_text(speedup, 2) + "x";
  if (!interval) return text + " (error not known)";
  return fmt::format("{} ({} to {})", text, decimal_text(interval->low, 2), decimal_text(interval->high, 2));
}

std::string load_words(const LoadQuestion& question) {
  if (question.recorded) return "With the recorded requests";
  if (!is_closed(question)) return fmt::format("At {} requests/s", short_number_text(question.arrivals.rate_per_s));
  const std::int64_t clients = question.arrivals.clients;
  return fmt::format("At {} concurrent request{}", clients, clients == 1 ? "" : "s");
}

double tokens_per_s(const LoadQuestion& question, const AtLoad& at) {
  return at.equilibrium.requests_per_s * question.output.tokens;
}

/// "1.39x (1.10 to 1.68), 2950 instead of 2120 output tokens/s"
std::string load_gain_text(const LoadPrediction& prediction, const AtLoad& at) {
  const AtLoad& plain = prediction.plain();
  std::string text = load_speedup_text(at.speedup->request, at.request_interval);
  if (is_closed(prediction.question)) {
    return text + fmt::format(", {} instead of {} output tokens/s",
                              decimal_text(tokens_per_s(prediction.question, at), 0),
                              decimal_text(tokens_per_s(prediction.question, plain), 0));
  }
  return text + fmt::format(", requests of {} instead of {}", time_text(at.equilibrium.request_us),
                            time_text(plain.equilibrium.request_us));
}

/// The choice, and whether it is faster, with its certainty.
std::string verdict_text(const LoadPrediction& prediction) {
  const std::string load = load_words(prediction.question);
  if (!prediction.best_latency) return load + " the server is overloaded with every draft length.";
  const AtLoad* best = answers::judged(prediction);
  if (best == nullptr) {
    return load + " do not speculate: " +
           (prediction.lengths.back().max_batch == 0 ? "with a draft model it does not fit into memory."
                                                     : "with it the server is overloaded.");
  }
  const std::string name = length_name(best->gamma);
  if (!best->speedup) return fmt::format("{} use {}: without speculation the server is overloaded.", load, name);
  const std::string gain = load_gain_text(prediction, *best);
  const bool asked = prediction.question.pair.gamma.has_value();
  switch (answers::payoff_of(prediction)) {
    case answers::Payoff::pays:
      return asked ? fmt::format("{} {} pays: {}.", load, name, gain) : fmt::format("{} use {}: {}.", load, name, gain);
    case answers::Payoff::within_error:
      return fmt::format("{} it is not certain that speculation pays: {} gives {}.", load, name, gain);
    case answers::Payoff::does_not_pay:
      break;
  }
  return fmt::format("{} do not speculate{}: {} gives {}.", load, asked ? " like this" : "", name, gain);
}

/// The other effects for users, and a better draft length than that of the question.
std::string further_text(const LoadPrediction& prediction) {
  const AtLoad* at = answers::judged(prediction);
  if (at == nullptr || !at->speedup) return "";
  const AtLoad& plain = prediction.plain();
  std::string text = fmt::format(" TPOT {} instead of {}, TTFT {} instead of {}.", time_text(at->equilibrium.tpot_us),
                                 time_text(plain.equilibrium.tpot_us), time_text(at->equilibrium.ttft_us),
                                 time_text(plain.equilibrium.ttft_us));
  if (answers::payoff_of(prediction) == answers::Payoff::within_error) {
    text += fmt::format(" To decide, {}measure both (foredraft advise).",
                        prediction.question.engine ? "" : "name the engine (--engine) or ");
  }
  const std::int64_t best = prediction.question.pair.gamma ? prediction.best_latency.value_or(0) : 0;
  if (best > 0 && best != at->gamma && prediction.at(best).speedup) {
    const AtLoad& faster = prediction.at(best);
    text += fmt::format(" {} gives {}.", length_name(best),
                        load_speedup_text(faster.speedup->request, faster.request_interval));
  }
  return text;
}

std::string objective_text(const answers::Objective& objective) {
  std::string text;
  if (objective.ttft_ms) text += fmt::format("{} ms to the first token", short_number_text(*objective.ttft_ms));
  if (objective.ttft_ms && objective.tpot_ms) text += " and ";
  if (objective.tpot_ms) text += fmt::format("{} ms for each further one", short_number_text(*objective.tpot_ms));
  return text;
}

/// "At this load K = 3 meets the objectives, no speculation does not meet them. "
std::string meeting_text(const LoadPrediction& prediction) {
  const AtLoad* at = answers::judged(prediction);
  const AtLoad& plain = prediction.plain();
  if (at == nullptr || !at->meets_objective || !plain.meets_objective) return "";
  const auto keeps = [](bool met) { return met ? "meets" : "does not meet"; };
  if (*at->meets_objective == *plain.meets_objective) {
    return fmt::format("At this load the objectives are {}met with {} and without speculation. ",
                       *at->meets_objective ? "" : "not ", length_name(at->gamma));
  }
  return fmt::format("At this load {} {} the objectives, no speculation {} them. ", length_name(at->gamma),
                     keeps(*at->meets_objective), keeps(*plain.meets_objective));
}

std::string throughput_text(const LoadPrediction& prediction) {
  const answers::Objective& objective = prediction.question.objective;
  if (is_closed(prediction.question) && !objective.any()) return "";
  const std::string within =
      objective.any() ? "with 99 % of them within " + objective_text(objective) : std::string("with a full batch");
  if (!prediction.best_throughput) return fmt::format("No rate is served {}.\n", within);
  const AtLoad& best = prediction.at(*prediction.best_throughput);
  std::string text = fmt::format("{}Maximum requests/s per GPU {}: {} with {}", meeting_text(prediction), within,
                                 decimal_text(best.requests_per_s_per_gpu, 2), length_name(best.gamma));
  if (best.gamma > 0) {
    text += fmt::format(", {} with {}", decimal_text(prediction.plain().requests_per_s_per_gpu, 2), length_name(0));
  }
  return text + ".\n";
}

std::string row_name(const AtLoad& at) {
  return !at.schedule.empty() ? "rows" : at.gamma == 0 ? "plain" : fmt::format("{}", at.gamma);
}

std::vector<const AtLoad*> rows_of(const LoadPrediction& prediction) {
  std::vector<const AtLoad*> rows;
  for (const AtLoad& at : prediction.lengths) rows.push_back(&at);
  if (prediction.scheduled) rows.push_back(&*prediction.scheduled);
  return rows;
}

/// Closed-form means.
Table means_table(const LoadPrediction& prediction) {
  const bool priced = prediction.question.gpu_hour_price.has_value();
  Table table;
  for (const char* title :
       {"K", "tokens/s", "speedup", "its range", "TPOT ms", "TTFT ms", "request ms", "in flight", "batch", "GB"}) {
    table.columns.push_back({title, Table::Align::right});
  }
  if (priced) table.columns.push_back({"per 1M", Table::Align::right});
  for (const AtLoad* at : rows_of(prediction)) {
    std::vector<std::string>& row = table.rows.emplace_back(table.columns.size());
    row[0] = row_name(*at);
    if (!at->answers()) {
      row[1] = at->max_batch == 0 ? "no fit" : "overload";
      continue;
    }
    const analytic::LoadEquilibrium& mean = at->equilibrium;
    row[1] = decimal_text(tokens_per_s(prediction.question, *at), 0);
    if (at->speedup) row[2] = decimal_text(at->speedup->request, 2);
    if (at->request_interval) {
      row[3] =
          fmt::format("{}-{}", decimal_text(at->request_interval->low, 2), decimal_text(at->request_interval->high, 2));
    }
    row[4] = decimal_text(mean.tpot_us / 1e3, 2);
    row[5] = short_ms(mean.ttft_us / 1e3);
    row[6] = short_ms(mean.request_us / 1e3);
    row[7] = decimal_text(mean.in_flight, 1);
    row[8] = decimal_text(mean.batch, 1);
    if (at->memory_bytes) row[9] = decimal_text(*at->memory_bytes / 1e9, 1);
    if (priced && at->cost_per_million) row[10] = decimal_text(*at->cost_per_million, 2);
  }
  return table;
}

/// Percentiles if simulated, and the maximum requests/s per GPU. Empty if the question has neither.
std::string percentiles_text(const LoadPrediction& prediction) {
  const std::vector<const AtLoad*> rows = rows_of(prediction);
  const bool served = std::ranges::any_of(rows, [](const AtLoad* at) { return at->served.has_value(); });
  const bool rated = !is_closed(prediction.question) || prediction.question.objective.any();
  if (!served && !rated) return "";
  struct Group {
    const char* title;
    std::array<Estimate Estimates::*, 3> percentiles;
    int digits;
  };
  const std::vector<Group> all{
      Group{"TTFT ms: p50, p95, p99",
            {&Estimates::first_token_p50_ms, &Estimates::first_token_p95_ms, &Estimates::first_token_p99_ms},
            0},
      Group{"TPOT ms: p50, p95, p99", {&Estimates::tpot_p50_ms, &Estimates::tpot_p95_ms, &Estimates::tpot_p99_ms}, 1},
      Group{"request ms: p50, p95, p99",
            {&Estimates::latency_p50_ms, &Estimates::latency_p95_ms, &Estimates::latency_p99_ms},
            0}};
  const std::vector<Group> groups = served ? all : std::vector<Group>{};
  Table table;
  table.columns.push_back({"K", Table::Align::right});
  for (const Group& group : groups) {
    for (const char* percentile : {"p50", "p95", "p99"}) {
      table.columns.push_back({percentile, Table::Align::right, group.title});
    }
  }
  if (rated) table.columns.push_back({"req/s/GPU", Table::Align::right});
  for (const AtLoad* at : rows) {
    if (at->max_batch == 0) continue;
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(row_name(*at));
    for (const Group& group : groups) {
      for (const auto percentile : group.percentiles) {
        row.push_back(at->served ? decimal_text(((*at->served).*percentile).mean, group.digits) : "");
      }
    }
    if (rated) row.push_back(decimal_text(at->requests_per_s_per_gpu, 2));
  }
  return "\n" + to_text(table);
}

/// "21.3 ms with K = 3: verification 62 %, drafting 18 %, prompts 12 %, engine 8 %"
std::string shares_text(const AtLoad& at) {
  const analytic::LoadShares& shares = at.equilibrium.shares;
  std::vector<std::string> parts;
  for (const auto& [name, share] : {std::pair{at.gamma > 0 ? "verification" : "decode steps", shares.verification},
                                    std::pair{"drafting", shares.drafting}, std::pair{"prompts", shares.prompts},
                                    std::pair{"engine", shares.engine}}) {
    constexpr double least_shown = 0.005;
    if (share >= least_shown) parts.push_back(fmt::format("{} {:.0f} %", name, 100.0 * share));
  }
  return fmt::format("{} ms with {}: {}\n", decimal_text(at.equilibrium.iteration_us / 1e3, 2), length_name(at.gamma),
                     fmt::join(parts, ", "));
}

std::string shares_lines(const LoadPrediction& prediction) {
  std::string text;
  const AtLoad* at = answers::judged(prediction);
  if (at != nullptr) text += "iteration   " + shares_text(*at);
  if (prediction.plain().answers())
    text += (text.empty() ? "iteration   " : "            ") + shares_text(prediction.plain());
  return text;
}

/// The setting of an engine to raise so that a pass over this many tokens and requests is captured.
std::string graph_setting(const latency::Engine& engine, std::int64_t tokens, std::int64_t requests) {
  if (engine.name.starts_with("vllm")) {
    return fmt::format("raise vLLM's --max-cudagraph-capture-size (or cudagraph_capture_sizes) to {}", tokens);
  }
  if (engine.name.starts_with("sglang")) return fmt::format("raise SGLang's --cuda-graph-max-bs to {}", requests);
  if (engine.name.starts_with("trtllm")) {
    return fmt::format("raise TensorRT-LLM's cuda_graph_config.max_batch_size to {}", requests);
  }
  return fmt::format("raise the engine's largest graph to {} tokens", tokens);
}

/// Passes larger than the largest captured CUDA graph, and the setting to capture them.
std::string graphs_line(const LoadPrediction& prediction) {
  const auto beyond = std::ranges::find_if(prediction.lengths, &AtLoad::beyond_graphs);
  if (beyond == prediction.lengths.end()) return "";
  const AtLoad* judged = answers::judged(prediction);
  const AtLoad& at = judged != nullptr && judged->beyond_graphs ? *judged : *beyond;
  const double most = is_closed(prediction.question) ? static_cast<double>(prediction.question.arrivals.clients)
                                                     : std::ceil(at.equilibrium.batch);
  const std::int64_t requests =
      std::isfinite(most) ? std::min(static_cast<std::int64_t>(most), at.max_batch) : at.max_batch;
  const Convention convention = at.gamma == 0 ? Convention::bonus : prediction.question.pair.convention;
  const std::int64_t tokens = requests * max_tokens(at.gamma, convention);
  return fmt::format(
      "GRAPHS      {}: {} requests verify {} tokens a pass, the largest captured graph has {}; beyond it every "
      "operator "
      "is launched by itself - {}\n",
      length_name(at.gamma), requests, tokens,
      prediction.question.graph_tokens.value_or(prediction.engine.graph_tokens),
      graph_setting(prediction.engine, tokens, requests));
}

std::string schedule_line(const LoadPrediction& prediction) {
  if (!prediction.scheduled) return "";
  const AtLoad& at = *prediction.scheduled;
  std::string text = fmt::format("schedule    {} (rows): ", answers::schedule_json(at.schedule).dump());
  if (!at.answers()) return text + "overloaded\n";
  text += at.speedup ? load_gain_text(prediction, at) : std::string("it keeps up");
  return text + "\n";
}

std::string adaptive_line(const LoadPrediction& prediction) {
  if (!prediction.adaptive_gain) return "";
  constexpr double least_gain = 1.005;
  if (*prediction.adaptive_gain < least_gain) {
    return "adaptive    one budget of drafted tokens for the batch would add nothing to the best fixed K\n";
  }
  return fmt::format(
      "adaptive    one budget of drafted tokens for the batch, spent where they are likeliest to be accepted, would "
      "add "
      "{:.0f} % to the best fixed K\n",
      100.0 * (*prediction.adaptive_gain - 1.0));
}

/// The assumed engine, and whether naming one would narrow the intervals.
std::string engine_line(const LoadPrediction& prediction) {
  const latency::Engine& engine = prediction.engine;
  if (prediction.question.engine) return fmt::format("engine      {}: {}\n", engine.name, engine.summary);
  std::vector<std::string> covered;
  for (const latency::Engine& one : latency::common_engines()) covered.push_back(one.name);
  return fmt::format("engine      none named: {} assumed ({}), intervals cover {} (--engine NAME)\n", engine.name,
                     engine.summary, fmt::join(covered, ", "));
}

std::string limit_text(const LoadPrediction& prediction, const AtLoad& at) {
  return fmt::format("{} ({})", at.max_batch,
                     at.limit == answers::BatchLimit::memory     ? "memory"
                     : at.limit == answers::BatchLimit::times    ? "no times beyond"
                     : prediction.question.max_batch.has_value() ? "--max-batch"
                                                                 : "the engine's default");
}

std::string batch_line(const LoadPrediction& prediction) {
  std::string text =
      fmt::format("batch       at most {} without speculation", limit_text(prediction, prediction.plain()));
  const AtLoad* judged = answers::judged(prediction);
  if (judged != nullptr)
    text += fmt::format(", {} with {}", limit_text(prediction, *judged), length_name(judged->gamma));
  return text + "\n";
}

std::string times_line(const LoadPrediction& prediction) {
  std::string text = fmt::format("times       {}", prediction.decoding.device);
  if (prediction.question.prompts)
    text += fmt::format("; prompts {}", prediction.question.prompts->profile.device.name);
  if (prediction.gpus > 1) text += fmt::format("; {} GPUs a server", prediction.gpus);
  if (!prediction.decoding.valid) text += "; NOT VALID by its own A/A run";
  return text + "\n";
}

/// "prompts of 3000 tokens (p95 9000)"
std::string load_lengths_text(std::string_view what, const TokenCount& count) {
  std::string text = fmt::format("{} of {} tokens", what, decimal_text(count.tokens, 0));
  return count.p95 > 0.0 ? text + fmt::format(" in the mean (p95 {}, lognormal)", short_number_text(count.p95)) : text;
}

std::string assumes_line(const LoadPrediction& prediction) {
  const LoadQuestion& question = prediction.question;
  std::string arrivals = "Poisson arrivals";
  if (is_closed(question)) arrivals = "each client sends its next request when its last one is answered";
  if (question.recorded) {
    arrivals = fmt::format("{} recorded requests at {} requests/s, repeated", question.recorded->requests.size(),
                           decimal_text(question.arrivals.rate_per_s, 2));
  }
  std::string text = fmt::format("assumes     {}; {}, {}", arrivals, load_lengths_text("prompts", question.prompt),
                                 load_lengths_text("outputs", question.output));
  if (question.recorded) text += " in the mean";
  if (question.prefix_hit > 0.0)
    text += fmt::format("; {:.0f} % of a prompt in the prefix cache", 100.0 * question.prefix_hit);
  text += prediction.engine.prefill == Prefill::chunked
              ? fmt::format("; prompts in chunks, {} tokens a pass, decoding first", prediction.engine.pass_tokens)
              : std::string("; prompts in passes of their own while no request decodes");
  return text + fmt::format("; {}\n", acceptance_words(answers::acceptance_of(question.pair)));
}

std::string intervals_line(const LoadPrediction& prediction) {
  if (!prediction.evidence.interval_level) return "intervals   none: the error of these times is not known\n";
  return fmt::format("intervals   {:.0f} %, from the errors of the times and of the engine\n",
                     100.0 * *prediction.evidence.interval_level);
}

}  // namespace

std::string to_text(const LoadPrediction& prediction) {
  const LoadQuestion& question = prediction.question;
  const std::string evidence =
      wrapped(fmt::format("evidence    {}: {} (docs/load.md)\n", prediction.evidence.name, prediction.evidence.error),
              columns_of_label);
  if (std::ranges::all_of(prediction.lengths, [](const AtLoad& at) { return at.max_batch == 0; })) {
    return wrapped(fmt::format("Does not fit into memory: not one request of {} + {} tokens on {} GPU{}. Take more "
                               "(--target-tp), a narrower format (--target-format), or --ignore-memory.\n",
                               decimal_text(question.prompt.tokens, 0), decimal_text(question.output.tokens, 0),
                               prediction.gpus, prediction.gpus == 1 ? "" : "s")) +
           evidence;
  }
  std::string rest = model_lines(prediction.decoding) + shares_lines(prediction) + graphs_line(prediction) +
                     schedule_line(prediction) + adaptive_line(prediction) + engine_line(prediction) +
                     batch_line(prediction) + times_line(prediction);
  for (const std::string& note : prediction.decoding.notes) rest += fmt::format("note        {}\n", note);
  rest += intervals_line(prediction);
  if (question.gpu_hour_price) {
    rest += fmt::format("per 1M      cost of a million output tokens at this load, at {} per GPU hour\n",
                        short_number_text(*question.gpu_hour_price));
  }
  rest += assumes_line(prediction);
  return wrapped(verdict_text(prediction) + further_text(prediction) + "\n") + wrapped(throughput_text(prediction)) +
         evidence + "\n" + to_text(means_table(prediction)) + percentiles_text(prediction) + "\n" +
         wrapped(rest, columns_of_label);
}

}  // namespace foredraft::app
