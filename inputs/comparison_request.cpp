// SPDX-License-Identifier: Apache-2.0
#include "inputs/comparison_request.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <variant>

#include "answers/baseline.hpp"
#include "answers/run_cost.hpp"
#include "core/documents.hpp"
#include "core/files.hpp"
#include "core/new_file.hpp"

namespace foredraft::inputs {
namespace {

using Compared = ComparisonRequest;

constexpr std::array<RequestField<Compared>, 2> fields_of_comparison{
    {{"gpu-hour-price", RealNumber<Compared>{&Compared::gpu_hour_price, 0.0, answers::max_gpu_hour_price}},
     {"gpus", WholeNumber<Compared>{&Compared::gpus, 1, answers::max_priced_gpus}}}};

/// The valid requirements. If `problems` is not null, adds a problem for each invalid one.
std::vector<answers::Requirement> requirements_of(const Compared& request, ProblemList* problems) {
  std::vector<answers::Requirement> requirements;
  for (const std::string& text : request.require) {
    auto parsed = answers::parse_requirement(text, "--require");
    if (auto* requirement = std::get_if<answers::Requirement>(&parsed)) {
      requirements.push_back(std::move(*requirement));
    } else if (problems != nullptr) {
      problems->add(std::get<Problem>(std::move(parsed)));
    }
  }
  return requirements;
}

}  // namespace

std::span<const RequestField<ComparisonRequest>> comparison_fields() { return fields_of_comparison; }

void check(const ComparisonRequest& request, ProblemList& problems) {
  const bool two_logs = request.logs.size() > 1;
  const bool has_baseline = request.baseline.has_value();
  const std::vector<answers::Requirement> requirements = requirements_of(request, &problems);
  const auto relative = std::ranges::find(requirements, true, &answers::Requirement::relative);
  if (relative != requirements.end() && !two_logs && !has_baseline) {
    problems.add({.key = "--require",
                  .text = fmt::format("\"{}\" with one log", relative->text),
                  .why = "a number with x is relative to A: it needs B",
                  .suggestion = "give two logs, --baseline FILE, or a number without x"});
  }
  check_price(request.gpus.has_value(), request.gpu_hour_price.has_value(), problems);
  if (has_baseline && two_logs) {
    problems.add({.key = "--baseline",
                  .text = "given with two logs",
                  .why = "the baseline is A",
                  .suggestion = "give the log to compare with it alone"});
  }
  if (request.save_baseline && (two_logs || has_baseline)) {
    problems.add({.key = "--save-baseline",
                  .text = "given with more than one log",
                  .why = "a baseline holds the runs of one",
                  .suggestion = "foredraft compare LOG --save-baseline FILE"});
  }
}

answers::ComparisonQuestion read_comparison(const ComparisonRequest& request, const ReadLogs& read) {
  if (request.save_baseline) require_new_file(*request.save_baseline, "save-baseline");
  std::vector<std::string> paths = request.logs;
  paths.insert(paths.end(), request.plain.begin(), request.plain.end());
  std::vector<logs::ObservedLog> logs = read(paths, "", OtherFiles::rejected);
  answers::ComparisonQuestion question{.reference = {}, .requirements = requirements_of(request, nullptr)};
  if (request.gpu_hour_price) {
    question.gpu_price = answers::GpuPrice{.per_hour = *request.gpu_hour_price, .gpus = request.gpus.value_or(1)};
  }
  const std::size_t compared = request.logs.size();
  if (request.baseline) {
    question.reference = answers::parse_baseline(read_file(*request.baseline, max_json_bytes), *request.baseline);
    question.candidate = std::move(logs.front());
  } else {
    question.reference = std::move(logs.front());
    if (compared > 1) question.candidate = std::move(logs[1]);
  }
  for (std::size_t i = compared; i < logs.size(); ++i) question.plain.push_back(std::move(logs[i]));
  return question;
}

bool save_baseline(const ComparisonRequest& request, const answers::ComparisonQuestion& question,
                   const answers::Comparison& comparison) {
  if (!request.save_baseline || !comparison.concludes() || !comparison.meets_requirements()) return false;
  write_new_file(*request.save_baseline, "save-baseline",
                 answers::baseline_text(comparison, std::get<logs::ObservedLog>(question.reference)));
  return true;
}

}  // namespace foredraft::inputs
