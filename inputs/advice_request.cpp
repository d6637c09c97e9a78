// SPDX-License-Identifier: Apache-2.0
#include "inputs/advice_request.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

#include "answers/engine_settings.hpp"
#include "answers/profile_prediction.hpp"
#include "answers/run_cost.hpp"
#include "core/table.hpp"
#include "foredraft/acceptance.hpp"
#include "foredraft/errors.hpp"
#include "inputs/deployment.hpp"
#include "inputs/devices.hpp"
#include "logs/file_names.hpp"
#include "logs/scrapes.hpp"
#include "logs/served_runs.hpp"

namespace foredraft::inputs {
namespace {

constexpr std::int64_t largest_advised_batch = 65'536;
constexpr std::int64_t largest_advised_context = 1'000'000;
constexpr std::int64_t default_context = 512;

using Request = AdviceRequest;

/// Fields for times of a device come last.
constexpr std::array<RequestField<Request>, 11> fields_of_advice{
    {{"format", &Request::format},
     {"for", &Request::engine},
     {"engine-version", &Request::engine_version},
     {"gpu-hour-price", RealNumber<Request>{&Request::gpu_hour_price, 0.0, answers::max_gpu_hour_price}},
     {"gpus", WholeNumber<Request>{&Request::gpus, 1, answers::max_priced_gpus}},
     {"device", &Request::device},
     {"profile", &Request::profile},
     {"batch", WholeNumber<Request>{&Request::batch, 1, largest_advised_batch}},
     {"target", &Request::target},
     {"draft", &Request::draft},
     {"context", WholeNumber<Request>{&Request::context, 0, largest_advised_context}}}};
constexpr std::size_t fields_of_times = 3;

const std::string& named_device(const Request& request) {
  return request.device.empty() ? request.profile : request.device;
}

void require(std::string_view option, std::string_view value, std::string_view what, std::string_view example,
             ProblemList& problems) {
  if (!value.empty()) return;
  problems.add({.key = fmt::format("--{}", option),
                .text = "missing",
                .why = fmt::format("the {} model", what),
                .suggestion = fmt::format("e.g. --{} {}; foredraft list models", option, example)});
}

void check_engine(const Request& request, ProblemList& problems) {
  const std::vector<std::string> known = texts_of(answers::engine_exports(), &answers::EngineExport::name);
  if (request.engine.empty() || std::ranges::find(known, request.engine) != known.end()) return;
  problems.add({.key = "--for",
                .text = fmt::format("unknown for \"{}\"", request.engine),
                .suggestion = suggestion_for(request.engine, known)});
}

void add_prediction(const Request& request, ReadAdvice& read) {
  const ReadProfile device = request.device.empty() ? read_profile(request.profile) : read_device(request.device);
  read.files.push_back(device.digest);
  answers::ProfileQuestion asked{.target = request.target,
                                 .draft = request.draft,
                                 .acceptance = Iid{0.5},
                                 .batches = answers::advised_batches(read.question, largest_advised_batch),
                                 .contexts = {request.context.value_or(default_context)},
                                 .max_gamma = answers::longest_advised};
  ProblemList problems{std::string(advice_source)};
  DeployedPair pair = read_deployed_pair(
      {.target = asked.target, .draft = asked.draft, .deployment = request.deployment}, device.profile, problems);
  read.notes = pair.notes;
  deploy(request.deployment, std::move(pair), asked, read.files);
  if (asked.batches.empty()) {
    throw InputError(
        fmt::format("{}: batch: required (the log does not say how many requests ran at once) - add "
                    "--batch B",
                    named_device(request)));
  }
  try {
    read.question.predicted = answers::predicted_times(answers::predict(asked, device.profile));
  } catch (const DomainError& error) {
    throw InputError(fmt::format("{}: {}", named_device(request), error.what()));
  }
}

}  // namespace

std::span<const RequestField<AdviceRequest>> advice_fields() { return fields_of_advice; }

void check(const AdviceRequest& request, ProblemList& problems) {
  if (!request.device.empty() && !request.profile.empty()) {
    problems.add({.key = "--device",
                  .text = "mutually exclusive with --profile",
                  .why = "times come from one device",
                  .suggestion = "remove one"});
  }
  if (named_device(request).empty()) {
    reject_stated(request, advice_fields().last(fields_of_times),
                  {.text = "given without --profile or --device",
                   .why = "it asks for step times of a device",
                   .suggestion = "e.g. --device h200"},
                  problems);
    reject_deployment(request.deployment, problems);
  } else {
    require("target", request.target, "target", "llama-3.1-8b", problems);
    require("draft", request.draft, "draft", "llama-3.2-1b", problems);
  }
  check_engine(request, problems);
  check_price(request.gpus.has_value(), request.gpu_hour_price.has_value(), problems);
}

ReadAdvice read_advice(const AdviceRequest& request, const ReadLogs& read) {
  ReadAdvice answer{.question = {.logs = read(request.logs, request.format, OtherFiles::left_out)}};
  if (!request.plain.empty()) answer.question.plain = read(request.plain, "", OtherFiles::left_out);
  if (!request.plain.empty()) logs::draft_beside_plain(answer.question.logs);
  for (auto* logs : {&answer.question.logs, &answer.question.plain}) {
    for (logs::ObservedLog& log : *logs) {
      answer.files.push_back({.path = log.file, .bytes = log.bytes, .sha256 = log.sha256});
    }
    logs::combine_scrapes(*logs);
    logs::name_by_files(*logs);
    for (logs::ObservedLog& log : *logs) {
      for (logs::Observation& one : log.contents.observations) {
        if (request.batch && !one.requests) one.requests = static_cast<double>(*request.batch);
      }
    }
  }
  logs::join_server_logs(answer.question.logs);
  if (request.gpu_hour_price) {
    answer.question.gpu_price = {.per_hour = *request.gpu_hour_price, .gpus = request.gpus.value_or(1)};
  }
  if (!named_device(request).empty()) add_prediction(request, answer);
  return answer;
}

std::string settings_of(const AdviceRequest& request, const answers::Advice& advice) {
  const std::string& engine = request.engine.empty() ? advice.engine : request.engine;
  // The meaning of TensorRT-LLM's settings depends on the version.
  if (answers::needs_version(request.engine) && request.engine_version.empty() && advice.version.empty()) {
    throw InputError(
        "--engine-version: required (the keys of draft_len_schedule are lower bounds up to 1.2 and upper bounds from "
        "1.3 on) - e.g. --engine-version 1.3.0");
  }
  return answers::settings_for(advice, engine, request.engine_version);
}

}  // namespace foredraft::inputs
