// SPDX-License-Identifier: Apache-2.0
// What is answered from keywords as the program answers it from options: logs, advice, loads.
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

void bind_logs(nb::module_& module) {
  module.def("observations_document", [](const std::vector<std::string>& paths, const std::string& format) {
    return run_interruptibly(
        [&](const std::atomic<bool>& stop, ProgressBoard&) { return observations_document(paths, format, &stop); },
        nb::none());
  });
  module.def("advice", [](const std::vector<std::string>& logs, const std::vector<std::string>& plain,
                          const std::vector<std::pair<std::string, Keyword::Value>>& options) {
    std::vector<Keyword> keywords;
    for (const auto& [name, value] : options) keywords.push_back({name, value});
    const AdviceTexts texts = run_interruptibly(
        [&](const std::atomic<bool>& stop, ProgressBoard&) { return advice(logs, plain, keywords, &stop); },
        nb::none());
    return std::tuple(texts.json, texts.text, texts.notes);
  });
  module.def("load_prediction", [](const std::vector<std::pair<std::string, Keyword::Value>>& options) {
    std::vector<Keyword> keywords;
    for (const auto& [name, value] : options) keywords.push_back({name, value});
    const LoadTexts texts = run_interruptibly(
        [&](const std::atomic<bool>& stop, ProgressBoard&) { return load_prediction(keywords, &stop); }, nb::none());
    return std::tuple(texts.json, texts.text, texts.notes);
  });
  module.def("logging_plan",
             [](const std::string& engine, std::optional<std::int64_t> current_gamma,
                const std::vector<std::int64_t>& concurrency, const std::string& target, const std::string& draft) {
               const PlanTexts texts = logging_plan(engine, current_gamma, concurrency, target, draft);
               return std::pair(texts.json, texts.text);
             });
}

}  // namespace foredraft::python
