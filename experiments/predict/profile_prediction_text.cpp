// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "analytic/draft_length/measured_draft_length.hpp"
#include "core/numbers.hpp"
#include "experiments/predict/profile_prediction.hpp"
#include "experiments/text/table.hpp"

namespace foredraft::experiments {
namespace {

constexpr std::size_t most_shown_lengths = 4;

std::string ms_text(double us) {
  const double ms = us / 1e3;
  constexpr double shown_as_one = 0.995;
  return ms >= shown_as_one ? decimal_text(ms, 2) : fmt::format("{:.3g}", ms);
}

std::string use_text(std::int64_t gamma) { return gamma == 0 ? "plain decoding" : fmt::format("gamma {}", gamma); }

/// "gamma 2 up to batch 101, gamma 1 from 102 to 128".
std::string ranges_text(const std::vector<ScheduleRange>& ranges) {
  if (ranges.size() == 1 && ranges.front().first == ranges.front().last) return use_text(ranges.front().gamma);
  if (ranges.size() == 1) {
    return fmt::format("{} at every batch from {} to {}", use_text(ranges.front().gamma), ranges.front().first,
                       ranges.front().last);
  }
  std::string text;
  for (const ScheduleRange& range : ranges) {
    text += text.empty() ? fmt::format("{} up to batch {}", use_text(range.gamma), range.last)
            : range.first == range.last
                ? fmt::format(", {} at {}", use_text(range.gamma), range.first)
                : fmt::format(", {} from {} to {}", use_text(range.gamma), range.first, range.last);
  }
  return text;
}

/// What to do and where it stops paying.
std::string sentence(const std::vector<ScheduleRange>& ranges) {
  const auto plain =
      std::find_if(ranges.begin(), ranges.end(), [](const ScheduleRange& range) { return range.gamma == 0; });
  const bool one_batch = ranges.front().first == ranges.back().last;
  std::string text = fmt::format("Use {}. ", ranges_text(ranges));
  if (plain == ranges.begin() && ranges.size() == 1) {
    return text + (one_batch ? "Speculation does not pay." : "Speculation pays at none of them.");
  }
  if (plain != ranges.end()) return text + fmt::format("Speculation stops paying at batch {}.", plain->first);
  return text + (one_batch ? "It pays."
                           : fmt::format("It pays at every batch asked ({} is the largest).", ranges.back().last));
}

/// Gamma 1, those in use, and others up to most_shown_lengths.
std::set<std::int64_t> shown_lengths(const ProfilePrediction& prediction) {
  std::set<std::int64_t> shown{1};
  if (prediction.question.gamma.value_or(0) > 0) shown.insert(*prediction.question.gamma);
  for (const AtBatch& at : prediction.cells) {
    if (at.use > 0) shown.insert(at.use);
  }
  const auto longest = static_cast<std::int64_t>(prediction.cells.front().lengths.size());
  for (std::int64_t gamma = 2; gamma <= longest && shown.size() < most_shown_lengths; ++gamma) shown.insert(gamma);
  return shown;
}

std::string speedup_text(const AtDraftLength& length) {
  const std::string spread = length.spread ? " +- " + decimal_text(length.speedup * *length.spread, 2) : "";
  return decimal_text(length.speedup, 2) + spread;
}

Table table_of(const ProfilePrediction& prediction, std::int64_t context) {
  const std::set<std::int64_t> shown = shown_lengths(prediction);
  std::string verified;
  for (const std::int64_t gamma : shown) {
    verified += fmt::format("{}{}", verified.empty() ? "" : ", ", max_tokens(gamma, prediction.question.convention));
  }
  Table table{.caption = "",
              .columns = {{"batch", Table::Align::right},
                          {"plain ms", Table::Align::right},
                          {"draft ms", Table::Align::right},
                          {fmt::format("verify ms: {} tokens", verified), Table::Align::left}},
              .rows = {}};
  for (const std::int64_t gamma : shown) {
    table.columns.push_back({fmt::format("{}gamma {}", gamma == 1 ? "speedup: " : "", gamma), Table::Align::right});
  }
  table.columns.push_back({"use", Table::Align::right});
  for (const AtBatch& at : prediction.cells) {
    if (at.context != context) continue;
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {fmt::format("{}", at.batch), ms_text(at.plain.time_us), ms_text(at.one_draft.time_us), ""};
    for (const std::int64_t gamma : shown) {
      const AtDraftLength& length = at.lengths[static_cast<std::size_t>(gamma) - 1];
      row[3] += fmt::format("{:>6} ", ms_text(length.verify.time_us));
      row.push_back(speedup_text(length));
    }
    row.push_back(at.use == 0 ? "plain" : fmt::format("{}", at.use));
  }
  return table;
}

std::string schedule_text(const std::vector<ScheduleRange>& ranges) {
  std::string text;
  for (const ScheduleRange& range : ranges) {
    text += fmt::format("{}[{},{},{}]", text.empty() ? "" : ",", range.first, range.last, range.gamma);
  }
  return "[" + text + "]";
}

std::string step_lines(const ProfilePrediction& prediction) {
  const ProfileQuestion& question = prediction.question;
  const AtBatch& at = prediction.cells.front();
  const AtDraftLength* length = shown_length(question, at);
  if (length == nullptr) length = &at.lengths.front();
  const double whole_us = analytic::iteration_time(length->iteration);
  std::string text = fmt::format("step        batch {}, gamma {}: draft {} + verify {}", at.batch, length->gamma,
                                 ms_text(length->drafting.time_us), ms_text(length->verify.time_us));
  if (prediction.sampling_known) text += fmt::format(" + sampling {}", ms_text(length->sampling.time_us));
  if (question.overhead_us > 0.0) text += fmt::format(" + overhead {}", ms_text(question.overhead_us));
  text += fmt::format(" = {} ms for {:.2f} tokens; plain {} ms\n", ms_text(whole_us), length->tokens,
                      ms_text(length->tokens * analytic::plain_time(length->iteration)));
  const auto batch = static_cast<double>(at.batch);
  text += fmt::format("rate        {:.5g} tokens/s against {:.5g} plain; verification takes {} plain steps\n",
                      1e6 * batch * length->tokens / whole_us, 1e6 * batch / analytic::plain_time(length->iteration),
                      decimal_text(analytic::verification_growth(length->iteration), 2));
  const auto alpha = analytic::break_even_alpha(length->iteration, length->gamma, question.convention);
  const std::int64_t passes = question.drafting == latency::Role::block_drafting ? 1 : length->gamma;
  const auto c = analytic::break_even_c(length->iteration, length->tokens, passes);
  text += "break even  ";
  text += alpha ? fmt::format("alpha above {:.3f} (i.i.d.)", *alpha) : std::string("no alpha pays");
  return text + (c ? fmt::format(", or a draft below {} plain steps\n", decimal_text(*c, 3))
                   : ", and free drafts would not pay\n");
}

std::string origin_line(const ProfilePrediction& prediction) {
  std::set<std::string> origins;
  std::set<std::string> outside;
  bool sampling_inside = true;
  for (const AtBatch& at : prediction.cells) {
    const auto note = [&](const latency::Latency& latency) {
      origins.insert(std::string(to_string(latency.origin)));
      if (!latency.inside) outside.insert(fmt::format("batch {} context {}", at.batch, at.context));
    };
    note(at.plain);
    for (const AtDraftLength& length : at.lengths) {
      note(length.verify);
      note(length.drafting);
      sampling_inside = sampling_inside && length.sampling.inside;
    }
  }
  const auto joined = [](const std::set<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
  };
  const latency::Setting& setting = prediction.setting;
  std::string text =
      fmt::format("times       {}, source {}: {}", prediction.device, to_string(prediction.source), joined(origins));
  if (!latency::holds_steps_alone(prediction.source)) {
    text += fmt::format("; {}, {}, {}", setting.dtype, to_string(setting.cache), to_string(setting.launch));
  }
  if (!sampling_inside) text += "; some sampling is of larger or smaller batches than were measured";
  text += "\n";
  if (!outside.empty()) text += fmt::format("OUTSIDE     the domain of the fit: {}\n", joined(outside));
  if (!prediction.valid)
    text += "NOT VALID   by its own A/A run: two measurements of the same differ by more than 2 %\n";
  return text;
}

std::string interval_line(const ProfilePrediction& prediction) {
  switch (prediction.source) {
    case latency::Source::measured:
      return "intervals   95 %: between-run spread and errors of interpolation and fit, taken as independent; "
             "acceptance "
             "taken as exact\n";
    case latency::Source::datasheet:
      return fmt::format("intervals   none: a data sheet says what nobody reaches{}\n",
                         prediction.launches_known ? "" : ", and launches count as free");
    case latency::Source::engine:
    case latency::Source::operators:
      if (!prediction.cells.front().plain.spread) break;
      return "intervals   95 %: the error that the profile states of its steps, and of interpolation, taken as "
             "independent; acceptance taken as exact\n";
    case latency::Source::user:
      break;
  }
  return "intervals   none: how well these times are known is not said\n";
}

}  // namespace

std::string to_text(const ProfilePrediction& prediction) {
  const ProfileQuestion& question = prediction.question;
  std::string text;
  const bool several = question.contexts.size() > 1;
  for (std::size_t i = 0; i < question.contexts.size(); ++i) {
    text += several ? fmt::format("Context {}: ", question.contexts[i]) : "";
    text += sentence(prediction.schedules[i]) + "\n";
  }
  for (const std::int64_t context : question.contexts) {
    text += several ? fmt::format("\ncontext {}\n", context) : "\n";
    text += to_text(table_of(prediction, context));
  }
  text += "\n";
  for (std::size_t i = 0; i < question.contexts.size(); ++i) {
    text += fmt::format("schedule    {}{}        ties within 1 % go to the smaller gamma\n",
                        several ? fmt::format("context {}: ", question.contexts[i]) : "",
                        schedule_text(prediction.schedules[i]));
  }
  return text + step_lines(prediction) + origin_line(prediction) + interval_line(prediction) +
         fmt::format("not in it   {}{}prompts and encoders, whether it fits into memory\n",
                     question.overhead_us > 0.0 ? "" : "the engine's own overhead per iteration (--overhead-us), ",
                     prediction.sampling_known ? "" : "accepting and sampling tokens, ");
}

}  // namespace foredraft::experiments
