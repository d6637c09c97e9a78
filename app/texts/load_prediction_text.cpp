// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>

#include "answers/load_prediction.hpp"
#include "app/texts/texts.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::app {
namespace {

std::string gamma_text(std::int64_t gamma) { return gamma == 0 ? "no speculation" : fmt::format("gamma {}", gamma); }

std::string short_ms(double ms) { return decimal_text(ms, ms < 100.0 ? 1 : 0); }

/// "1.39x (1.10 to 1.68)"
std::string load_speedup_text(double speedup, const std::optional<Interval>& interval) {
  std::string text = decimal_text(speedup, 2) + "x";
  if (!interval) return text;
  return fmt::format("{} ({} to {})", text, decimal_text(interval->low, 2), decimal_text(interval->high, 2));
}

/// "gamma 3: a speedup of 1.39x (1.10 to 1.68) of whole requests, ..."
std::string gain_text(const answers::LoadPrediction& prediction, const answers::AtRate& at) {
  const std::string batch = decimal_text(at.equilibrium.batch, 1);
  if (!at.speedup) {
    return fmt::format("gamma {}: it keeps up in batches of {}, where no speculation is overloaded", at.gamma, batch);
  }
  std::string text =
      fmt::format("gamma {}: a speedup of {} of whole requests, {} of decoding, in batches of {} instead of {}",
                  at.gamma, load_speedup_text(at.speedup->request, at.request_interval),
                  load_speedup_text(at.speedup->decode, at.decode_interval), batch,
                  decimal_text(prediction.plain().equilibrium.batch, 1));
  if (at.request_interval && at.request_interval->low <= 1.0 && at.request_interval->high >= 1.0) {
    text += "; the gain is within the error of these times";
  }
  return text;
}

std::string throughput_text(const answers::LoadPrediction& prediction) {
  const answers::Objective& objective = prediction.question.objective;
  std::string within = "that a full batch keeps up with";
  if (objective.any()) {
    within = "with 99 % of them within";
    if (objective.ttft_ms) within += fmt::format(" {} ms to the first token", number_text(*objective.ttft_ms));
    if (objective.ttft_ms && objective.tpot_ms) within += " and";
    if (objective.tpot_ms) within += fmt::format(" {} ms for each further one", number_text(*objective.tpot_ms));
  }
  if (!prediction.best_throughput) return fmt::format("No rate is served {}.", within);
  const answers::AtRate& best = prediction.at(*prediction.best_throughput);
  std::string text = fmt::format("Most requests/s a GPU {}: {} with {}", within,
                                 decimal_text(best.requests_per_s_per_gpu, 2), gamma_text(best.gamma));
  if (best.gamma > 0) {
    text += fmt::format(", {} with {}", decimal_text(prediction.plain().requests_per_s_per_gpu, 2), gamma_text(0));
  }
  return text + ".";
}

std::string load_sentence(const answers::LoadPrediction& prediction) {
  const std::string rate = fmt::format("At {} requests/s", number_text(prediction.question.requests_per_s));
  if (!prediction.best_latency) return rate + " the server is overloaded with every draft length.";
  const answers::AtRate& best = prediction.at(*prediction.best_latency);
  std::string text = best.gamma == 0 ? fmt::format("{} do not speculate: no draft length answers sooner.", rate)
                                     : fmt::format("{} use {}.", rate, gain_text(prediction, best));
  const answers::AtRate* shown = prediction.shown();
  if (shown->gamma != best.gamma && shown->gamma > 0) {
    text += shown->answers() ? fmt::format(" With {}.", gain_text(prediction, *shown))
                             : fmt::format(" With gamma {} it is overloaded.", shown->gamma);
  }
  return text;
}

Table load_table(const answers::LoadPrediction& prediction) {
  Table table;
  for (const char* title : {"gamma", "batch", "TTFT: p50", "p99 ms", "TPOT: p50", "p99 ms", "request ms", "speedup",
                            "decoding", "req/s/GPU"}) {
    table.columns.push_back({title, Table::Align::right});
  }
  if (prediction.question.gpu_hour_price) table.columns.push_back({"per 1M", Table::Align::right});
  for (const answers::AtRate& at : prediction.lengths) {
    std::vector<std::string>& row = table.rows.emplace_back(table.columns.size());
    row[0] = at.gamma == 0 ? "plain" : fmt::format("{}", at.gamma);
    row[1] = at.max_batch == 0 ? "no fit" : at.answers() ? decimal_text(at.equilibrium.batch, 1) : "overload";
    if (at.served) {
      row[2] = short_ms(at.served->first_token_p50_ms.mean);
      row[3] = short_ms(at.served->first_token_p99_ms.mean);
      row[4] = decimal_text(at.served->tpot_p50_ms.mean, 2);
      row[5] = decimal_text(at.served->tpot_p99_ms.mean, 2);
      row[6] = short_ms(at.served->latency_ms.mean);
    }
    if (at.speedup) {
      row[7] = decimal_text(at.speedup->request, 2);
      row[8] = decimal_text(at.speedup->decode, 2);
    }
    if (at.max_batch == 0) continue;
    row[9] = decimal_text(at.requests_per_s_per_gpu, 2);
    if (prediction.question.gpu_hour_price) row[10] = at.cost_per_million ? decimal_text(*at.cost_per_million, 2) : "-";
  }
  return table;
}

std::string limit_text(const answers::AtRate& at) {
  return fmt::format("{} ({})", at.max_batch,
                     at.limit == answers::BatchLimit::memory  ? "memory"
                     : at.limit == answers::BatchLimit::times ? "no times of larger ones"
                                                              : "--max-batch");
}

std::string times_text(const answers::LoadPrediction& prediction) {
  std::string text = fmt::format("times       {}", prediction.decoding.device);
  if (prediction.question.prompts)
    text += fmt::format("; prompts {}", prediction.question.prompts->profile.device.name);
  if (prediction.gpus > 1) text += fmt::format("; {} GPUs a server", prediction.gpus);
  if (!prediction.decoding.valid) text += "; NOT VALID by its own A/A run";
  return text + "\n";
}

}  // namespace

std::string to_text(const answers::LoadPrediction& prediction) {
  const answers::LoadQuestion& question = prediction.question;
  const std::string evidence = wrapped(
      fmt::format("evidence    {}: {} (docs/step-times.md)\n\n", prediction.evidence.name, prediction.evidence.error),
      columns_of_label);
  if (std::ranges::all_of(prediction.lengths, [](const answers::AtRate& at) { return at.max_batch == 0; })) {
    return evidence +
           wrapped(fmt::format("Does not fit into memory: not one request of {} + {} tokens on {} GPU{}. Take more "
                               "(--target-tp), a narrower format (--target-format), or --ignore-memory.\n",
                               question.prompt_tokens, question.output_tokens, prediction.gpus,
                               prediction.gpus == 1 ? "" : "s"));
  }
  const std::string text = evidence + wrapped(load_sentence(prediction)) + "\n" + wrapped(throughput_text(prediction)) +
                           "\n\n" + to_text(load_table(prediction)) + "\n" + model_lines(prediction.decoding);
  std::string rest = fmt::format("batch       sequences of an iteration by closed form; at most {} without speculation",
                                 limit_text(prediction.plain()));
  const answers::AtRate* shown = prediction.shown();
  if (shown != nullptr && shown->gamma > 0) rest += fmt::format(", {} with gamma {}", limit_text(*shown), shown->gamma);
  rest += "\n" + times_text(prediction);
  for (const std::string& note : prediction.decoding.notes) rest += fmt::format("note        {}\n", note);
  if (prediction.evidence.interval_level) {
    rest += fmt::format("intervals   {:.0f} %: what the error of the times leaves open of a speedup\n",
                        100.0 * *prediction.evidence.interval_level);
  }
  if (question.gpu_hour_price) {
    rest += fmt::format("per 1M      output tokens at these requests/s cost so much, {} an hour and GPU\n",
                        number_text(*question.gpu_hour_price));
  }
  rest += fmt::format(
      "assumes     Poisson arrivals, prompts of {} and answers of {} tokens; {}; one prefill reads the prompts that "
      "wait while no request decodes (no chunks, no shared prefixes); speedups compare equal rates\n",
      question.prompt_tokens, question.output_tokens, acceptance_words(answers::acceptance_of(question.pair)));
  return text + wrapped(rest, columns_of_label);
}

}  // namespace foredraft::app
