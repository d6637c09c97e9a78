// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "analytic/draft_length/best_gamma.hpp"
#include "answers/prediction.hpp"
#include "answers/profile_prediction.hpp"
#include "app/texts/texts.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"
#include "latency/models/model_shape.hpp"
#include "latency/models/storage.hpp"
#include "latency/operations/step_operations.hpp"
#include "latency/surfaces/step_model.hpp"

namespace foredraft::app {
namespace {

constexpr std::size_t max_shown_lengths = 4;

std::string ms_text(double us) {
  const double ms = us / 1e3;
  constexpr double shown_as_one = 0.995;
  return ms >= shown_as_one ? decimal_text(ms, 2) : fmt::format("{:.3g}", ms);
}

std::string use_text(std::int64_t gamma) {
  return gamma == 0 ? "autoregressive decoding" : fmt::format("gamma {}", gamma);
}

/// "gamma 2 up to batch 101, gamma 1 from 102 to 128".
std::string ranges_text(const std::vector<GammaRange>& ranges) {
  if (ranges.size() == 1 && ranges.front().from_batch == ranges.front().to_batch) return use_text(ranges.front().gamma);
  if (ranges.size() == 1) {
    return fmt::format("{} at every batch from {} to {}", use_text(ranges.front().gamma), ranges.front().from_batch,
                       ranges.front().to_batch);
  }
  std::string text;
  for (const GammaRange& range : ranges) {
    text += text.empty() ? fmt::format("{} up to batch {}", use_text(range.gamma), range.to_batch)
            : range.from_batch == range.to_batch
                ? fmt::format(", {} at {}", use_text(range.gamma), range.from_batch)
                : fmt::format(", {} from {} to {}", use_text(range.gamma), range.from_batch, range.to_batch);
  }
  return text;
}

std::string gb_text(double bytes) { return fmt::format("{:.3g} GB", bytes / 1e9); }

/// With a metric prefix: "8.19 G".
std::string prefixed_text(double value) {
  constexpr double thousand = 1e3, shown_as_thousand = 999.5;
  double shown = value / (thousand * thousand);
  std::string_view prefixes = "MGT";
  for (; shown >= shown_as_thousand && prefixes.size() > 1; shown /= thousand) prefixes.remove_prefix(1);
  return fmt::format("{:.3g} {}", shown, prefixes.front());
}

/// The format of a model: "bf16", or "bf16, fp8 KV cache" if the KV cache has not its default format.
std::string formats_text(const latency::Deployment& deployment) {
  std::string text = to_text(deployment.weights);
  if (deployment.kv_cache != latency::default_cache_format(deployment.weights.layers())) {
    text += fmt::format(", {} KV cache", to_string(deployment.kv_cache));
  }
  return text;
}

std::string model_line(std::string_view role, const std::optional<answers::ModelFacts>& facts) {
  if (!facts) return "";
  const latency::ModelShape& shape = facts->shape;
  const std::string encoder = shape.encoder_layers > 0 ? fmt::format("{}+", shape.encoder_layers) : "";
  std::string text = fmt::format("{:<{}}{}: {}{} layer{} x {}, ", role, columns_of_label, shape.name, encoder,
                                 shape.layers, shape.layers == 1 && encoder.empty() ? "" : "s", shape.d_model);
  if (shape.experts.count > 0) text += fmt::format("{} of {} experts, ", shape.experts.per_token, shape.experts.count);
  text += prefixed_text(facts->parameters) + " parameters";
  if (shape.experts.count > 0) text += fmt::format(" ({} active)", prefixed_text(facts->active_parameters));
  text += fmt::format(", {}, reads {}B of {}B a step", formats_text(facts->deployment),
                      prefixed_text(facts->step_bytes), prefixed_text(facts->weight_bytes));
  const std::int64_t devices = latency::devices_of(facts->deployment);
  return text + (devices > 1 ? fmt::format(" on {} devices\n", devices) : "\n");
}

/// For estimates: "It pays at batch 1, 8; the gain is within the error of this profile at batch 32."
std::string payoff_text(const answers::ProfilePrediction& prediction, std::int64_t context) {
  std::map<answers::Payoff, std::vector<std::int64_t>> batches;
  for (const answers::AtBatch& at : prediction.cells) {
    if (at.context == context && prediction.advises(at)) batches[answers::payoff_of(at)].push_back(at.batch);
  }
  std::vector<std::string> parts;
  for (const auto& [payoff, where] : batches) {
    const std::string_view says = payoff == answers::Payoff::pays ? "it pays"
                                  : payoff == answers::Payoff::within_error
                                      ? "the gain is within the error of this profile"
                                      : "it does not pay";
    parts.push_back(fmt::format("{} at batch {}", says, fmt::join(where, ", ")));
  }
  std::string text = fmt::format("{}.", fmt::join(parts, "; "));
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

bool is_estimate(latency::Source source) {
  return source == latency::Source::datasheet || source == latency::Source::operators;
}

/// The draft length to use, and where speculation stops paying.
std::string sentence(const answers::ProfilePrediction& prediction, std::size_t context_index) {
  const std::vector<GammaRange>& ranges = prediction.schedules[context_index];
  if (ranges.empty())
    return "Does not fit into memory: take more devices (--target-tp) or a narrower format (--target-format).";
  if (is_estimate(prediction.source)) {
    return fmt::format("Use {}. {}", ranges_text(ranges),
                       payoff_text(prediction, prediction.question.contexts[context_index]));
  }
  const auto plain = std::ranges::find(ranges, 0, &GammaRange::gamma);
  const bool one_batch = ranges.front().from_batch == ranges.back().to_batch;
  std::string text = fmt::format("Use {}. ", ranges_text(ranges));
  if (plain == ranges.begin() && ranges.size() == 1) {
    return text + (one_batch ? "Speculation does not pay." : "Speculation pays at none of them.");
  }
  if (plain != ranges.end()) return text + fmt::format("Speculation stops paying at batch {}.", plain->from_batch);
  return text + (one_batch ? "It pays."
                           : fmt::format("It pays at every batch asked ({} is the largest).", ranges.back().to_batch));
}

/// Gamma 1, the recommended ones, and others, max_shown_lengths in total.
std::set<std::int64_t> shown_lengths(const answers::ProfilePrediction& prediction) {
  std::set<std::int64_t> shown{1};
  if (prediction.question.gamma.value_or(0) > 0) shown.insert(*prediction.question.gamma);
  for (const answers::AtBatch& at : prediction.cells) {
    if (at.use > 0) shown.insert(at.use);
  }
  const auto longest = static_cast<std::int64_t>(prediction.cells.front().lengths.size());
  for (std::int64_t gamma = 2; gamma <= longest && shown.size() < max_shown_lengths; ++gamma) shown.insert(gamma);
  // If there are too many, leave out those between the shortest and the longest.
  while (prediction.attainable && shown.size() > max_shown_lengths) shown.erase(std::next(shown.begin(), 2));
  return shown;
}

std::string speedup_text(const answers::ProfilePrediction& prediction, const answers::AtDraftLength& length) {
  if (prediction.attainable) return decimal_text(length.speedup, 2);  // the interval has a separate column
  const std::string spread = length.spread ? " +- " + decimal_text(length.speedup * *length.spread, 2) : "";
  return decimal_text(length.speedup, 2) + spread;
}

/// Range at the draft length to use, or at gamma 1 for no speculation.
std::string range_text(const answers::AtBatch& at) {
  const answers::AtDraftLength& length = at.at(std::max<std::int64_t>(at.use, 1));
  return fmt::format("{}-{}", decimal_text(length.interval->low, 2), decimal_text(length.interval->high, 2));
}

Table table_of(const answers::ProfilePrediction& prediction, std::int64_t context) {
  const std::set<std::int64_t> shown = shown_lengths(prediction);
  std::vector<std::int64_t> verified;
  for (const std::int64_t gamma : shown) verified.push_back(max_tokens(gamma, prediction.question.convention));
  Table table{.caption = "",
              .columns = {{"batch", Table::Align::right},
                          {"plain ms", Table::Align::right},
                          {"draft ms", Table::Align::right},
                          {fmt::format("verify ms: {} tokens", fmt::join(verified, ", ")), Table::Align::left}},
              .rows = {}};
  const std::string speedups = fmt::format("speedup: gamma {}", fmt::join(shown, ", "));
  for (const std::int64_t gamma : shown) {
    table.columns.push_back({fmt::format("gamma {}", gamma), Table::Align::right, speedups});
  }
  table.columns.push_back({"use", Table::Align::right});
  if (prediction.attainable) table.columns.push_back({"its range", Table::Align::right});
  for (const answers::AtBatch& at : prediction.cells) {
    if (at.context != context) continue;
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {fmt::format("{}", at.batch), ms_text(at.plain.time_us), ms_text(at.one_draft.time_us), ""};
    for (const std::int64_t gamma : shown) {
      const answers::AtDraftLength& length = at.at(gamma);
      row[3] += fmt::format("{:>6} ", ms_text(length.times.verify.time_us));
      row.push_back(prediction.advises(at) ? speedup_text(prediction, length) : "");
    }
    row.push_back(!prediction.advises(at) ? "no fit" : at.use == 0 ? "plain" : fmt::format("{}", at.use));
    if (prediction.attainable) row.push_back(prediction.advises(at) ? range_text(at) : "");
  }
  return table;
}

const answers::AtDraftLength& shown_or_first(const answers::ProfileQuestion& question, const answers::AtBatch& at) {
  const answers::AtDraftLength* shown = answers::shown_length(question, at);
  return shown == nullptr ? at.lengths.front() : *shown;
}

/// "drafting    3 passes at gamma 3: inputs 0.01 + layers 0.52 + vocabulary 0.3 ms".
std::string drafting_line(const std::optional<answers::DraftStep>& step) {
  if (!step) return "";
  const latency::PassParts& parts = step->parts;
  if (parts.passes == 0) return fmt::format("drafting    on the host: {} ms\n", ms_text(parts.host_us));
  std::string text = fmt::format("drafting    {} pass{} at gamma {}: inputs {} + layers {} + vocabulary {}",
                                 parts.passes, parts.passes == 1 ? "" : "es", step->gamma, ms_text(parts.inputs_us),
                                 ms_text(parts.layers_us), ms_text(parts.vocabulary_us));
  if (parts.overhead_us > 0.0) text += fmt::format(" + overhead {}", ms_text(parts.overhead_us));
  return text + " ms\n";
}

std::string step_lines(const answers::ProfilePrediction& prediction) {
  const answers::ProfileQuestion& question = prediction.question;
  const answers::AtBatch& at = prediction.cells.front();
  if (!prediction.advises(at)) return "";
  const answers::AtDraftLength& length = shown_or_first(question, at);
  const double whole_us = analytic::iteration_time(length.iteration);
  std::string text = fmt::format("step        batch {}, gamma {}: draft {} + verify {}", at.batch, length.gamma,
                                 ms_text(length.times.drafting.time_us), ms_text(length.times.verify.time_us));
  if (length.times.catch_up) text += fmt::format(" + catch-up {}", ms_text(length.times.catch_up->time_us));
  if (length.times.sampling) text += fmt::format(" + sampling {}", ms_text(length.times.sampling->time_us));
  if (length.iteration.overhead > 0.0) text += fmt::format(" + overhead {}", ms_text(length.iteration.overhead));
  text += fmt::format(" = {} ms for {:.2f} tokens; {:.2f} tokens of autoregressive decoding take {} ms\n",
                      ms_text(whole_us), length.tokens, length.tokens,
                      ms_text(length.tokens * analytic::plain_time(length.iteration)));
  text += drafting_line(prediction.draft_step);
  const auto batch = static_cast<double>(at.batch);
  text += fmt::format("rate        {:.5g} tokens/s against {:.5g} plain; verification takes {} decode steps\n",
                      1e6 * batch * length.tokens / whole_us, 1e6 * batch / analytic::plain_time(length.iteration),
                      decimal_text(analytic::verification_growth(length.iteration), 2));
  const auto alpha = analytic::break_even_alpha(length.iteration, length.gamma, question.convention);
  const std::int64_t passes = question.drafting == latency::Role::block_drafting ? 1 : length.gamma;
  const auto c = analytic::break_even_c(length.iteration, length.tokens, passes);
  text += "break even  ";
  text += alpha ? fmt::format("alpha above {:.3f} (i.i.d.)", *alpha) : std::string("no alpha pays");
  return text + (c ? fmt::format(", or a draft below {} decode steps\n", decimal_text(*c, 3))
                   : ", and free drafts would not pay\n");
}

std::string origin_line(const answers::ProfilePrediction& prediction) {
  std::set<std::string> origins;
  std::set<std::string> outside;
  bool sampling_inside = true;
  for (const answers::AtBatch& at : prediction.cells) {
    const auto note = [&](const latency::Latency& latency) {
      origins.insert(std::string(to_string(latency.origin)));
      if (!latency.inside) outside.insert(fmt::format("batch {} context {}", at.batch, at.context));
    };
    note(at.plain);
    for (const answers::AtDraftLength& length : at.lengths) {
      note(length.times.verify);
      note(length.times.drafting);
      sampling_inside = sampling_inside && length.times.sampling.value_or(latency::Latency{}).inside;
    }
  }
  const latency::Setting& setting = prediction.setting;
  std::string text = fmt::format("times       {}, source {}: {}", prediction.device, to_string(prediction.source),
                                 fmt::join(origins, ", "));
  if (!latency::holds_steps_alone(prediction.source)) {
    text += fmt::format("; {}, {}, {}", setting.dtype, to_string(setting.cache), to_string(setting.launch));
  }
  if (!sampling_inside) text += "; some sampling is of larger or smaller batches than were measured";
  text += "\n";
  if (!outside.empty()) {
    text += fmt::format("OUTSIDE     the domain of the fit: {}; the profile has times of {}\n",
                        fmt::join(outside, ", "), prediction.covered);
  }
  if (!prediction.valid)
    text += "NOT VALID   by its own A/A run: two measurements of the same differ by more than 2 %\n";
  return text;
}

std::string need_text(const latency::MemoryNeed& need, std::int64_t batch) {
  std::string text = fmt::format("weights {}", gb_text(need.target_weights_bytes));
  if (need.draft_weights_bytes > 0.0) text += fmt::format(" + {}", gb_text(need.draft_weights_bytes));
  return text + fmt::format(", KV caches {}, activations {}", gb_text(need.sequence_bytes * static_cast<double>(batch)),
                            gb_text(need.activation_bytes));
}

/// Batch sizes that do not fit into memory, stated first.
std::string misfit_lines(const answers::ProfilePrediction& prediction) {
  std::string text;
  for (const answers::AtBatch& at : prediction.cells) {
    if (at.fits()) continue;
    text += fmt::format(
        "Does not fit: batch {}, context {} needs {} of {} a device. {}\n              {}\n", at.batch, at.context,
        gb_text(at.need->total(at.batch)), gb_text(*prediction.capacity_bytes),
        *at.max_batch == 0 ? std::string("No batch does.") : fmt::format("The largest batch is {}.", *at.max_batch),
        need_text(*at.need, at.batch));
  }
  return text;
}

std::string memory_line(const answers::ProfilePrediction& prediction) {
  const answers::AtBatch& at = prediction.cells.front();
  if (!at.need || !at.fits()) return "";
  return fmt::format("memory      batch {}: {} of {} a device; largest batch {}\n            {}\n", at.batch,
                     gb_text(at.need->total(at.batch)), gb_text(*prediction.capacity_bytes), *at.max_batch,
                     need_text(*at.need, at.batch));
}

/// The lower bounds of a data sheet.
std::string floor_line(const answers::ProfilePrediction& prediction) {
  const answers::AtBatch& at = prediction.cells.front();
  if (!at.floor_plain_us) return "";
  const answers::AtDraftLength& length = shown_or_first(prediction.question, at);
  return fmt::format(
      "floor       batch {}: plain {} ms, {:.2f}x at gamma {}: every operator at the data sheet's limits\n", at.batch,
      ms_text(*at.floor_plain_us), *length.floor_speedup, length.gamma);
}

std::string percent_range(const latency::Range& range) {
  return fmt::format("{:.0f} to {:+.0f} %", 100.0 * (range.low - 1.0), 100.0 * (range.high - 1.0));
}

/// Assumptions about weights and routing that determine the cost of further tokens in a verification.
std::string token_lines(const answers::ProfilePrediction& prediction) {
  const auto& target = prediction.target;
  if (!target) return "";
  std::string text;
  if (has_gguf(target->deployment.weights)) {
    const latency::Range& vector = prediction.attainable->vector_efficiency;
    text = fmt::format(
        "kernels     llama.cpp: up to {} tokens on vector units, at {:.0f} % ({:.0f} to {:.0f} %) of the fp32 peak\n",
        latency::max_vector_tokens, 100.0 * vector.value, 100.0 * vector.low, 100.0 * vector.high);
  }
  if (target->shape.experts.count == 0 || target->deployment.expert_skew) return text;
  const latency::Range& skew = prediction.attainable->expert_skew;
  return text + fmt::format(
                    "routing     verified tokens share experts as measured: skew {:.2g}, {:.2g} to {:.2g} "
                    "(--expert-skew)\n",
                    skew.value, skew.low, skew.high);
}

/// The evidence for estimates, and their errors in tests.
std::string attainable_lines(const latency::Attainable& attainable, bool sheet) {
  std::string text;
  if (sheet) {
    text = fmt::format("attained    {:.0f} % of bandwidth, {:.0f} % of matrix peak, {:.2g} us an operator",
                       100.0 * attainable.bandwidth_efficiency.value, 100.0 * attainable.compute_efficiency.value,
                       attainable.operator_us.value);
    if (attainable.step_us.value > 0.0) text += fmt::format(", {:.3g} us a forward pass", attainable.step_us.value);
    text += " (docs/step-times.md)\n";
  }
  text += "intervals   cover 90 % of the held-out steps and ratios:";
  if (sheet) text += fmt::format(" a time {},", percent_range(attainable.step));
  return text + fmt::format("\n            verification over decode step {}, an iteration's own {:.0f} to {:.0f} us\n",
                            percent_range(attainable.verification), attainable.iteration_us.low,
                            attainable.iteration_us.high);
}

std::string interval_line(const answers::ProfilePrediction& prediction) {
  using latency::Source;
  const Source source = prediction.source;
  if (prediction.attainable) {
    const bool sheet = source == Source::datasheet;
    return (sheet ? token_lines(prediction) : "") + attainable_lines(*prediction.attainable, sheet);
  }
  if (source == Source::datasheet) return "intervals   none: a data sheet's peaks are upper bounds\n";
  if (source == Source::measured) {
    return "intervals   95 %: between-run spread and errors of interpolation and fit, taken as independent; "
           "acceptance treated as exact\n";
  }
  if (source == Source::user || !prediction.cells.front().plain.spread) {
    return "intervals   none: the error of these times is not known\n";
  }
  return "intervals   95 %: the error that the profile states of its steps, and of interpolation, taken as "
         "independent; "
         "acceptance treated as exact\n";
}

}  // namespace

std::string model_lines(const answers::ProfilePrediction& prediction) {
  return wrapped(model_line("target", prediction.target) + model_line("draft", prediction.draft), columns_of_label);
}

std::string to_text(const answers::ProfilePrediction& prediction) {
  const answers::ProfileQuestion& question = prediction.question;
  std::string text = misfit_lines(prediction);
  const bool several = question.contexts.size() > 1;
  for (std::size_t i = 0; i < question.contexts.size(); ++i) {
    const std::string where = several ? fmt::format("Context {}: ", question.contexts[i]) : "";
    text += wrapped(where + sentence(prediction, i)) + "\n";
  }
  if (std::ranges::any_of(prediction.schedules, [](const auto& ranges) { return !ranges.empty(); })) {
    text += "Decoding only: prompts are not in it (with them: --concurrency N --prompt P --output O).\n";
  }
  for (const std::int64_t context : question.contexts) {
    text += several ? fmt::format("\ncontext {}\n", context) : "\n";
    text += to_text(table_of(prediction, context));
  }
  text += "\n";
  text += model_lines(prediction);
  for (std::size_t i = 0; i < question.contexts.size(); ++i) {
    text += fmt::format("schedule    {}{}        ties within 1 % go to the smaller gamma\n",
                        several ? fmt::format("context {}: ", question.contexts[i]) : "",
                        answers::schedule_json(prediction.schedules[i]).dump());
  }
  answers::ProfileQuestion unbounded = question;
  unbounded.max_gamma.reset();
  if (question.max_gamma && *question.max_gamma < answers::max_drafts(unbounded)) {
    text += fmt::format(
        "searched    gamma 1 to {}: {}\n", *question.max_gamma,
        latency::holds_steps_alone(prediction.source) ? "as far as the steps reach" : "what one pass drafts");
  }
  std::string notes;
  for (const std::string& note : prediction.notes) notes += fmt::format("note        {}\n", note);
  const std::string rest = step_lines(prediction) + memory_line(prediction) + notes + origin_line(prediction) +
                           floor_line(prediction) + interval_line(prediction) +
                           fmt::format("not in it   {}{}prompts and encoders{}\n",
                                       prediction.cells.front().lengths.front().iteration.overhead > 0.0
                                           ? ""
                                           : "the engine's own overhead per iteration (--overhead-us), ",
                                       prediction.sampling_known() ? "" : "accepting and sampling tokens, ",
                                       prediction.cells.front().need ? "" : ", whether it fits into memory");
  return text + wrapped(rest, columns_of_label);
}

}  // namespace foredraft::app
