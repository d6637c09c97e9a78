// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "answers/logging_plan.hpp"
#include "app/texts/texts.hpp"
#include "core/readable.hpp"
#include "core/table.hpp"

namespace foredraft::app {
namespace {

/// A line of a command, broken with backslashes before options and quoted words.
std::string broken(std::string line) {
  constexpr std::size_t of_backslash = 2;
  constexpr std::size_t indent = columns_of_label + 2;
  std::string text;
  while (line.size() > text_columns) {
    const std::size_t last = text_columns - of_backslash;
    const std::size_t option = line.rfind(" -", last);
    const std::size_t word = line.rfind(" '", last);
    std::size_t at = option == std::string::npos ? 0 : option;
    if (word != std::string::npos) at = std::max(at, word);
    if (at <= indent) break;
    text += line.substr(0, at) + " \\\n";
    line = fmt::format("{:{}}{}", "", indent, line.substr(at + 1));
  }
  return text + line + "\n";
}

/// A command of one or several lines after a label.
std::string command_text(std::string_view label, const std::string& command) {
  std::string text;
  std::istringstream lines(command);
  for (std::string line; std::getline(lines, line);) {
    text += broken(fmt::format("{:<{}}{}", text.empty() ? label : "", columns_of_label, line));
  }
  return text;
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string first_line(const answers::LoggingPlan& plan) {
  std::vector<std::int64_t> gammas;
  for (const answers::PlannedServer& server : plan.servers) {
    if (server.gamma > 0) gammas.push_back(server.gamma);
  }
  std::vector<std::int64_t> loads;
  for (const answers::PlannedLoad& load : plan.loads) loads.push_back(load.concurrency);
  return fmt::format(
      "Log {} twice: without speculation and at K = {}, at {} at once; about {:.0f} minutes, starts of servers "
      "included.",
      counted(static_cast<std::int64_t>(plan.servers.size()), "server"), fmt::join(gammas, ", "),
      loads.size() == 1 ? counted(loads.front(), "request") : fmt::format("{} requests", fmt::join(loads, ", ")),
      plan.minutes);
}

std::string reasons_text(const answers::LoggingPlan& plan) {
  const bool measured = plan.question.current_gamma.has_value();
  std::string text = labeled(
      "why",
      fmt::format("without speculation: whether it pays at all; two K: what a drafted token costs, so that K between "
                  "them are interpolated{}; several loads: whether K should depend on the load",
                  measured ? fmt::format("; K = {} is yours", *plan.question.current_gamma) : ""));
  std::vector<std::string> minutes;
  for (const answers::PlannedLoad& load : plan.loads) {
    minutes.push_back(fmt::format("{:.0f} at {}", load.minutes, counted(load.concurrency, "request")));
  }
  text +=
      labeled("minutes", fmt::format("{}, at {:.0f} ms a token; {:.0f} to start a server. Both rounds give tokens per "
                                     "iteration and TPOT a standard error of {:.0f} %, if these vary by {:.0f} % "
                                     "between requests of {} tokens (assumed)",
                                     fmt::join(minutes, ", "), answers::planned_tpot_ms, answers::planned_start_minutes,
                                     100.0 * answers::planned_precision, 100.0 * answers::planned_request_variation,
                                     answers::planned_output_tokens));
  return text + labeled("order", fmt::format("{}: forth and back, so that a drift of the machine does not decide",
                                             fmt::join(plan.order, ", ")));
}

}  // namespace

std::string to_text(const answers::LoggingPlan& plan) {
  std::int64_t prompts = 0;
  for (const answers::PlannedLoad& load : plan.loads) prompts = std::max(prompts, load.requests);
  std::string text = labeled("", first_line(plan)) + reasons_text(plan);
  text += labeled("prompts", fmt::format("prompts.jsonl in an empty folder: {} lines of your own traffic, as {}; "
                                         "acceptance depends on the text",
                                         prompts, plan.prompts));
  text += labeled("drafter", plan.drafter + "; a drafter with fewer heads or a shorter block: its longest K");
  text += "\n" +
          wrapped(fmt::format("For each RUN of the order (RUN={}){} start its server ({}):", plan.order.front(),
                              plan.server_per_load ? " and each load N (N=1)" : "", plan.written_for)) +
          "\n";
  for (const answers::PlannedServer& server : plan.servers) text += command_text(server.name, server.command);
  text += plan.server_per_load ? "\nWhen it answers, load it, then stop it:\n"
                               : "\nWhen it answers, load it from another shell, then stop it:\n";
  for (const answers::PlannedLoad& load : plan.loads) {
    text += command_text(counted(load.concurrency, "request"), load.command);
  }
  text += "\n";
  for (const std::string& file : plan.keep) text += labeled(&file == &plan.keep.front() ? "keep" : " ", file);
  for (const std::string& command : plan.advise) {
    text += command_text(&command == &plan.advise.front() ? "then" : " ", command);
  }
  return text;
}

}  // namespace foredraft::app
