// SPDX-License-Identifier: Apache-2.0
// Questions in the keywords of the program's options, answered with its texts: logs, advice, comparisons, loads,
// methods.
#include <nanobind/nanobind.h>

#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "answers/advice.hpp"
#include "answers/comparison.hpp"
#include "answers/inverse.hpp"
#include "answers/load_prediction.hpp"
#include "answers/logging_plan.hpp"
#include "answers/methods.hpp"
#include "answers/profile_prediction.hpp"
#include "app/advice_folder.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/engine_options.hpp"
#include "app/predict/predict.hpp"
#include "app/predict/timed_question.hpp"
#include "app/prediction_folder.hpp"
#include "app/texts/texts.hpp"
#include "core/command_line.hpp"
#include "core/new_file.hpp"
#include "core/numbers.hpp"
#include "core/problems.hpp"
#include "core/table.hpp"
#include "experiments/results/manifest.hpp"
#include "foredraft/errors.hpp"
#include "foredraft/methods.hpp"
#include "inputs/advice_request.hpp"
#include "inputs/comparison_request.hpp"
#include "inputs/deployment.hpp"
#include "inputs/methods_file.hpp"
#include "inputs/observed_acceptance.hpp"
#include "inputs/request_field.hpp"
#include "logs/interchange.hpp"
#include "logs/observations_file.hpp"
#include "logs/scrapes.hpp"
#include "python/bind.hpp"
#include "python/long_work.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

using Json = nlohmann::ordered_json;

/// An option of the program (its name, with hyphens) and its value.
using Keyword = std::pair<std::string, std::variant<bool, std::int64_t, double, std::string>>;

/// An answer of the program. The functions below throw InputError with every problem; it names keywords as options.
struct AnswerTexts {
  std::string json;
  std::string text;
  std::vector<std::string> notes = {};                           ///< on the models, one sentence each
  std::vector<std::pair<std::string, std::string>> tables = {};  ///< CSV files of `--out`: name and text
};

/// The value as text; numbers as Python prints them.
std::string text_of(const Keyword& keyword) {
  const auto text = [](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      return value;
    } else {
      return Json(value).dump();
    }
  };
  return std::visit(text, keyword.second);
}

/// The value of a number or of a text such as "80%" or "32k". Outside the range or otherwise invalid: nullopt, and adds
/// a problem.
std::optional<double> number_of(const Keyword& keyword, bool is_whole, double minimum, double maximum,
                                ProblemList& problems) {
  const auto number = std::visit(
      [](const auto& value) -> std::optional<double> {
        using Held = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Held, std::string>) return parse_quantity(value);
        if constexpr (std::is_same_v<Held, double> || std::is_same_v<Held, std::int64_t>) {
          return static_cast<double>(value);
        }
        return std::nullopt;
      },
      keyword.second);
  const std::string key = "--" + keyword.first;
  if (!number || !std::isfinite(*number) || (is_whole && !whole(*number))) {
    problems.add({.key = key,
                  .text = fmt::format("invalid value {}", text_of(keyword)),
                  .why = is_whole ? "must be a whole number" : "must be a finite number"});
    return std::nullopt;
  }
  if (*number >= minimum && *number <= maximum) return *number == 0.0 ? 0.0 : *number;  // -0 is 0
  problems.add({.key = key,
                .text = fmt::format("invalid {}={}", keyword.first, *number),
                .why = fmt::format("must lie in [{}, {}]", minimum, maximum)});
  return std::nullopt;
}

/// Puts the keyword into the request, or adds a problem of its value; false: no field has its name.
template <class Request>
bool set_keyword(const Keyword& keyword, std::span<const inputs::RequestField<Request>> fields, Request& request,
                 ProblemList& problems) {
  const auto field = std::ranges::find(fields, keyword.first, &inputs::RequestField<Request>::name);
  if (field == fields.end()) return false;
  const std::string key = "--" + keyword.first;
  const auto set = [&](const auto& to) {
    using To = std::decay_t<decltype(to)>;
    if constexpr (std::is_same_v<To, inputs::WholeNumber<Request>>) {
      const auto number =
          number_of(keyword, true, static_cast<double>(to.minimum), static_cast<double>(to.maximum), problems);
      if (number) request.*to.member = static_cast<std::int64_t>(*number);
    } else if constexpr (std::is_same_v<To, inputs::RealNumber<Request>>) {
      request.*to.member = number_of(keyword, false, to.minimum, to.maximum, problems);
    } else if constexpr (std::is_same_v<To, bool Request::*>) {
      const bool* on = std::get_if<bool>(&keyword.second);
      if (on == nullptr) problems.add({.key = key, .text = "wrong type", .why = "must be True or False"});
      request.*to = on != nullptr && *on;
    } else if (std::holds_alternative<bool>(keyword.second)) {
      problems.add({.key = key, .text = "wrong type", .why = "must be a word"});
    } else if constexpr (std::is_same_v<To, std::string Request::*>) {
      request.*to = text_of(keyword);
    } else {
      using Format = typename std::remove_reference_t<decltype(request.*to)>::value_type;
      request.*to = latency::format_named<Format>(text_of(keyword));
      if (!(request.*to)) {
        problems.add({.key = key,
                      .text = fmt::format("unknown format \"{}\"", text_of(keyword)),
                      .suggestion = inputs::format_suggestion(text_of(keyword))});
      }
    }
  };
  std::visit(set, field->value);
  return true;
}

/// Adds a problem for a keyword that none of the fields has.
template <class... Requests>
void add_unknown_keyword(const std::string& name, ProblemList& problems,
                         std::span<const inputs::RequestField<Requests>>... fields) {
  std::vector<std::string> known;
  const auto add = [&](const auto& some) {
    for (const auto& field : some) known.push_back(fmt::format("--{}", field.name));
  };
  (add(fields), ...);
  const std::string key = "--" + name;
  problems.add({.key = key, .text = "unknown option", .suggestion = suggestion_for(key, known)});
}

inputs::ReadLogs reader(const std::atomic<bool>* stop) {
  return [stop](const std::vector<std::string>& paths, std::string_view format, inputs::OtherFiles others) {
    return inputs::read_logs(paths, format, others, stop);
  };
}

/// The keywords as a command line of `foredraft predict`.
CommandLine predict_line(const std::vector<Keyword>& keywords) {
  std::vector<std::string> words;
  for (const Keyword& keyword : keywords) {
    const bool is_switch = std::holds_alternative<bool>(keyword.second);
    words.push_back(is_switch ? "--" + keyword.first : fmt::format("--{}={}", keyword.first, text_of(keyword)));
  }
  CommandLine line(app::predict_command().spec, words, app::engine_options);
  line.convert("acceptance-rate", "accepted-over-drafted", 1.0);
  return line;
}

std::string observations_document(const std::vector<std::string>& paths, const std::string& format,
                                  const std::atomic<bool>* stop) {
  std::vector<logs::ObservedLog> logs = inputs::read_logs(paths, format, inputs::OtherFiles::rejected, stop);
  logs::combine_scrapes(logs);
  return logs::observations_text(logs);
}

AnswerTexts advice(const std::vector<std::string>& logs, const std::vector<std::string>& plain,
                   const std::vector<Keyword>& keywords, const std::atomic<bool>* stop) {
  inputs::AdviceRequest request{.logs = logs, .plain = plain};
  ProblemList problems{std::string(inputs::advice_source)};
  bool unknown = false;  // a missing option may be a misspelled one
  for (const Keyword& keyword : keywords) {
    if (set_keyword(keyword, inputs::advice_fields(), request, problems)) continue;
    if (set_keyword(keyword, inputs::deployment_fields(), request.deployment, problems)) continue;
    unknown = true;
    add_unknown_keyword(keyword.first, problems, inputs::advice_fields(), inputs::deployment_fields());
  }
  if (!unknown) inputs::check(request, problems);
  problems.raise();
  const inputs::ReadAdvice read = inputs::read_advice(request, reader(stop));
  const answers::Advice answer = answers::advise(read.question);
  return {.json = experiments::document_text(to_json(answer, request.engine_version)),
          .text = app::to_text(answer, inputs::settings_of(request, answer)),
          .notes = read.notes,
          .tables = app::advice_tables(answer)};
}

AnswerTexts logging_plan(const std::string& engine, std::optional<std::int64_t> current_gamma,
                         const std::vector<std::int64_t>& concurrency, const std::string& target,
                         const std::string& draft) {
  const answers::PlanQuestion question{
      .engine = engine, .current_gamma = current_gamma, .concurrency = concurrency, .target = target, .draft = draft};
  ProblemList problems{std::string(inputs::advice_source)};
  answers::check(question, problems);
  problems.raise();
  const answers::LoggingPlan plan = answers::logging_plan(question);
  return {.json = experiments::document_text(to_json(plan)), .text = app::to_text(plan)};
}

AnswerTexts load_prediction(const std::vector<Keyword>& keywords, const std::atomic<bool>* stop) {
  CommandLine line = predict_line(keywords);
  const app::AskedLoad asked = app::read_load(line);
  const answers::LoadPrediction answer = app::answer_load(asked, stop);
  return {
      .json = experiments::document_text(to_json(answer)), .text = app::to_text(answer), .notes = asked.timed.notes};
}

AnswerTexts times_prediction(const std::vector<Keyword>& keywords) {
  CommandLine line = predict_line(keywords);
  if (!app::names_times(line)) {
    line.require("device", "or --profile, --steps-file: the times of forward passes", "e.g. --device h200");
  }
  const app::TimedQuestion question = app::read_times(line);
  const std::vector<answers::ProfilePrediction> predictions = app::answer_times(question);
  return {.json = experiments::document_text(times_json(question, predictions)),
          .text = times_text(question, predictions),
          .notes = question.notes,
          .tables = app::prediction_tables(
              predictions.front(), app::verification_curves(predictions.front().question, question.read.profile))};
}

AnswerTexts explanation(const std::vector<Keyword>& keywords) {
  CommandLine line = predict_line(keywords);
  const answers::InverseQuestion question = app::read_inverse(line);
  return {.json = experiments::document_text(to_json(question)), .text = app::to_text(question)};
}

std::tuple<std::string, std::string, bool> comparison(const inputs::ComparisonRequest& files,
                                                      const std::vector<Keyword>& keywords,
                                                      const std::atomic<bool>* stop) {
  inputs::ComparisonRequest request = files;
  ProblemList problems{std::string(inputs::comparison_source)};
  for (const Keyword& keyword : keywords) {
    if (set_keyword(keyword, inputs::comparison_fields(), request, problems)) continue;
    add_unknown_keyword(keyword.first, problems, inputs::comparison_fields());
  }
  inputs::check(request, problems);
  problems.raise();
  const answers::ComparisonQuestion question = inputs::read_comparison(request, reader(stop));
  const answers::Comparison answer = answers::compare(question);
  static_cast<void>(inputs::save_baseline(request, question, answer));
  return {experiments::document_text(to_json(answer)), app::to_text(answer),
          answer.concludes() && answer.meets_requirements()};
}

void write_observations(const std::string& document, const std::string& path, const std::string& format) {
  const std::vector<std::string> names = texts_of(logs::interchanges(), &logs::Interchange::name);
  const auto found = std::ranges::find(logs::interchanges(), format, &logs::Interchange::name);
  if (found == logs::interchanges().end()) {
    throw InputError(
        fmt::format("foredraft: format: unknown format \"{}\" - {}", format, suggestion_for(format, names)));
  }
  require_new_file(path, "path");
  write_new_file(path, "path", found->text(logs::parse_observations(document, path)));
}

AnswerTexts methods_comparison(const std::string& document, const std::vector<double>& verification, unsigned threads,
                               const std::atomic<bool>* stop) {
  std::vector<FileDigest> files;
  MethodsQuestion question = inputs::parse_methods_document(document, "foredraft").question;
  question.price.verification = verification;
  inputs::train_pairs(question, "", files);
  const MethodsAnswer answer = compare_methods(question, threads, stop);
  return {.json = experiments::document_text(answers::to_json(answer)), .text = app::to_text(answer)};
}

using Texts =
    std::tuple<std::string, std::string, std::vector<std::string>, std::vector<std::pair<std::string, std::string>>>;

Texts texts_of(AnswerTexts answer) {
  return {std::move(answer.json), std::move(answer.text), std::move(answer.notes), std::move(answer.tables)};
}

/// Runs the long work(stop) so that Ctrl-C ends it. Returns its result.
template <class Work>
auto interruptible(Work work) {
  return run_interruptibly([&](const std::atomic<bool>& stop, ProgressBoard&) { return work(&stop); }, nb::none());
}

}  // namespace

void bind_logs(nb::module_& module) {
  using Names = std::vector<std::string>;
  using Keywords = std::vector<Keyword>;
  module.def("observations_document", [](const Names& paths, const std::string& format) {
    return interruptible([&](const auto* stop) { return observations_document(paths, format, stop); });
  });
  module.def("write_observations", write_observations);
  module.def("advice", [](const Names& logs, const Names& plain, const Keywords& keywords) {
    return texts_of(interruptible([&](const auto* stop) { return advice(logs, plain, keywords, stop); }));
  });
  module.def("logging_plan",
             [](const std::string& engine, std::optional<std::int64_t> current_gamma,
                const std::vector<std::int64_t>& concurrency, const std::string& target, const std::string& draft) {
               return texts_of(logging_plan(engine, current_gamma, concurrency, target, draft));
             });
  module.def(
      "comparison",
      [](const Names& logs, const Names& plain, const Names& require, const std::optional<std::string>& baseline,
         const std::optional<std::string>& save_baseline, const Keywords& keywords) {
        const inputs::ComparisonRequest files{
            .logs = logs, .plain = plain, .require = require, .baseline = baseline, .save_baseline = save_baseline};
        return interruptible([&](const auto* stop) { return comparison(files, keywords, stop); });
      },
      nb::arg("logs"), nb::arg("plain"), nb::arg("require"), nb::arg("baseline").none(),
      nb::arg("save_baseline").none(), nb::arg("keywords"));
  module.def("load_prediction", [](const Keywords& keywords) {
    return texts_of(interruptible([&](const auto* stop) { return load_prediction(keywords, stop); }));
  });
  module.def("times_prediction", [](const Keywords& keywords) {
    return texts_of(interruptible([&](const auto* /*stop*/) { return times_prediction(keywords); }));
  });
  module.def(
      "compare_methods", [](const std::string& document, const std::vector<double>& verification, unsigned threads) {
        return texts_of(
            interruptible([&](const auto* stop) { return methods_comparison(document, verification, threads, stop); }));
      });
  module.def("explanation", [](const Keywords& keywords) { return texts_of(explanation(keywords)); });
}

}  // namespace foredraft::python
