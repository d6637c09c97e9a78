// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <iterator>

#include "experiments/devices/devices.hpp"
#include "experiments/reproduce/experiments.hpp"
#include "experiments/reproduce/published.hpp"
#include "experiments/text/digest.hpp"
#include "latency/models/model_registry.hpp"
#include "latency/operations/counts.hpp"
#include "latency/surfaces/pair_surface.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::int64_t drafting_heads = 3;
constexpr std::int64_t drawn_candidates = 4;  ///< continuations of a sequence that one pass verifies
constexpr std::int64_t short_prompt = 64;     ///< where none is printed
constexpr std::array<std::int64_t, 8> survey_batches{1, 2, 4, 8, 16, 32, 64, 128};
constexpr std::array<std::int64_t, 4> survey_contexts{short_prompt, 512, 2048, 4096};
constexpr std::int64_t told_batch = 16;

/// How verified tokens read the cache of their sequence.
struct CacheReading {
  const char* name;
  bool by_every_token;
};
constexpr std::array readings{CacheReading{"cache read once a sequence", false},
                              CacheReading{"cache read by every verified token", true}};

/// Weights and cached keys and values of all sequences, 2 bytes a number.
bool fits_memory(const latency::Profile& device, const latency::ModelShape& shape, std::int64_t batch,
                 std::int64_t context) {
  constexpr double number_bytes = 2.0;
  const double cached = 2.0 * static_cast<double>(shape.layers * shape.kv_heads * shape.head_dim * batch * context);
  return number_bytes * (latency::parameters(shape) + cached) <= device.device.memory_bytes.value.value();
}

/// One server, with the cache read in one of the ways.
struct HeadServer {
  const latency::PairSurface& pair;
  double tokens_per_step;

  [[nodiscard]] double speedup(const CacheReading& reading, std::int64_t candidates, std::int64_t batch,
                               std::int64_t context) const {
    const std::int64_t verified = candidates * (drafting_heads + 1);
    const double plain_us = pair.target_pass(1, batch, context).time_us;
    const double verify_us = reading.by_every_token ? pair.target_pass(1, batch * verified, context).time_us
                                                    : pair.target_pass(verified, batch, context).time_us;
    return tokens_per_step * plain_us / (pair.drafting(drafting_heads, batch, context).time_us + verify_us);
  }
};

ScorecardRow speedup_row(std::string row, std::string column, double speedup, std::string note) {
  return {.experiment = "survey-batch-context",
          .row = std::move(row),
          .column = std::move(column),
          .published = std::nullopt,
          .ours = speedup,
          .ours_interval = std::nullopt,
          .kind = Kind::predicted,
          .verdict = Verdict::shown,
          .note = std::move(note)};
}

/// Rows of survey_numbers that print a latency with and without heads, and what we take of their conditions.
struct PrintedGain {
  std::size_t row;
  std::int64_t candidates;
  std::int64_t context;
};
constexpr std::array printed_gains{PrintedGain{2, 4, short_prompt}, PrintedGain{3, 2, 2048}};

void add_printed_gain(const PrintedGain& printed, const PublishedTable& table, const HeadServer& server,
                      ExperimentResult& result) {
  const std::string gain =
      fmt::format("{} / {} = {:.2f}x printed", table.text(printed.row, "baseline"), table.text(printed.row, "value"),
                  table.number(printed.row, "baseline").value / table.number(printed.row, "value").value);
  result.text += fmt::format(" {}: {};", table.text(printed.row, "condition"), gain);
  for (const CacheReading& reading : readings) {
    const double speedup = server.speedup(reading, printed.candidates, 1, printed.context);
    result.text += fmt::format(" {:.2f}x with {}{}", speedup, reading.name, &reading == &readings.back() ? "\n" : ",");
    result.rows.push_back(speedup_row(fmt::format("{}, {}", table.text(printed.row, "condition"), reading.name),
                                      "speedup at batch 1", speedup, gain));
  }
}

void add_curve(const CacheReading& reading, std::int64_t context, const HeadServer& server,
               const std::vector<std::int64_t>& batches, DataText& data, ExperimentResult& result) {
  result.text += fmt::format(" {}, context {}:", reading.name, context);
  for (const std::int64_t batch : batches) {
    const double speedup = server.speedup(reading, drawn_candidates, batch, context);
    data.row().cell(reading.name).cell(static_cast<double>(context)).cell(static_cast<double>(batch)).cell(speedup);
    if (batch != 1 && batch != told_batch) continue;
    result.text += fmt::format(" {:.2f}x at batch {}", speedup, batch);
    result.rows.push_back(speedup_row(fmt::format("{}, context {}", reading.name, context),
                                      fmt::format("speedup at batch {}", batch), speedup,
                                      "by the data sheet; the survey prints no number"));
  }
  result.text += "\n";
}

}  // namespace

ExperimentResult survey_batch_context(const ExperimentSettings& /*settings*/) {
  const PublishedTable table = published_table("survey_numbers");
  constexpr std::size_t tokens_row = 4;
  const std::string target = "llama-2-7b";
  const latency::Profile device = read_profile("a100-80gb").profile;
  const latency::ModelShape& shape = latency::find_model(latency::model_registry(), target);
  const latency::PairSurface pair(device, latency::model_registry(), target, target, latency::Role::head_drafting);
  const HeadServer server{pair, table.number(tokens_row, "value").value};
  ExperimentResult result;
  result.text = fmt::format(
      "gain of {} heads over batch and context, Llama-2-7B in fp16 on an A100 of 80 GB by its data sheet, {} tokens a "
      "step (printed of Llama-13B)\n",
      drafting_heads, table.text(tokens_row, "value"));
  for (const PrintedGain& printed : printed_gains) add_printed_gain(printed, table, server, result);
  DataText data({"cache", "context", "batch", "analytic_speedup"});
  for (const CacheReading& reading : readings) {
    for (const std::int64_t context : survey_contexts) {
      std::vector<std::int64_t> fitting;
      std::copy_if(survey_batches.begin(), survey_batches.end(), std::back_inserter(fitting),
                   [&](std::int64_t batch) { return fits_memory(device, shape, batch, context); });
      add_curve(reading, context, server, fitting, data, result);
    }
  }
  result.artifacts = {{"survey-batch-context.csv", data.csv()}};
  return result;
}

}  // namespace foredraft::experiments
