// SPDX-License-Identifier: Apache-2.0
// Answers as texts, which the program gives too: logs, advice, comparisons, loads, methods.
#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "python/bind.hpp"
#include "python/long_work.hpp"

namespace nb = nanobind;

namespace foredraft::python {

namespace {

using Keywords = std::vector<std::pair<std::string, Keyword::Value>>;
using Texts =
    std::tuple<std::string, std::string, std::vector<std::string>, std::vector<std::pair<std::string, std::string>>>;

std::vector<Keyword> keywords_of(const Keywords& options) {
  std::vector<Keyword> keywords;
  for (const auto& [name, value] : options) keywords.push_back({name, value});
  return keywords;
}

Texts texts_of(const AnswerTexts& answer) { return {answer.json, answer.text, answer.notes, answer.tables}; }

/// The texts of work(stop), long work.
template <class Work>
Texts answer_interruptibly(Work work) {
  return texts_of(
      run_interruptibly([&](const std::atomic<bool>& stop, ProgressBoard&) { return work(&stop); }, nb::none()));
}

}  // namespace

void bind_logs(nb::module_& module) {
  module.def("observations_document", [](const std::vector<std::string>& paths, const std::string& format) {
    return run_interruptibly(
        [&](const std::atomic<bool>& stop, ProgressBoard&) { return observations_document(paths, format, &stop); },
        nb::none());
  });
  module.def("write_observations", write_observations);
  module.def("advice",
             [](const std::vector<std::string>& logs, const std::vector<std::string>& plain, const Keywords& options) {
               return answer_interruptibly(
                   [&](const std::atomic<bool>* stop) { return advice(logs, plain, keywords_of(options), stop); });
             });
  module.def("logging_plan",
             [](const std::string& engine, std::optional<std::int64_t> current_gamma,
                const std::vector<std::int64_t>& concurrency, const std::string& target, const std::string& draft) {
               return texts_of(logging_plan(engine, current_gamma, concurrency, target, draft));
             });
  module.def(
      "comparison",
      [](const std::vector<std::string>& logs, const std::vector<std::string>& plain,
         const std::vector<std::string>& require, const std::optional<std::string>& baseline,
         const std::optional<std::string>& save_baseline, const Keywords& options) {
        const ComparedLogs files{logs, plain, require, baseline, save_baseline};
        const ComparisonTexts texts =
            run_interruptibly([&](const std::atomic<bool>& stop,
                                  ProgressBoard&) { return comparison(files, keywords_of(options), &stop); },
                              nb::none());
        return std::tuple(texts.answer.json, texts.answer.text, texts.passes);
      },
      nb::arg("logs"), nb::arg("plain"), nb::arg("require"), nb::arg("baseline").none(),
      nb::arg("save_baseline").none(), nb::arg("options"));
  module.def("load_prediction", [](const Keywords& options) {
    return answer_interruptibly(
        [&](const std::atomic<bool>* stop) { return load_prediction(keywords_of(options), stop); });
  });
  module.def("times_prediction", [](const Keywords& options) {
    return answer_interruptibly(
        [&](const std::atomic<bool>* /*stop*/) { return times_prediction(keywords_of(options)); });
  });
  module.def(
      "compare_methods", [](const std::string& document, const std::vector<double>& verification, unsigned threads) {
        return answer_interruptibly(
            [&](const std::atomic<bool>* stop) { return methods_comparison(document, verification, threads, stop); });
      });
  module.def("explanation", [](const Keywords& options) { return texts_of(explanation(keywords_of(options))); });
}

}  // namespace foredraft::python
