// SPDX-License-Identifier: Apache-2.0
// Methods side by side.
#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "foredraft/methods.hpp"
#include "python/bind.hpp"
#include "python/long_work.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

/// Document and text.
std::tuple<std::string, std::string> compare(const std::vector<std::string>& methods, double alpha,
                                             std::int64_t vocabulary, std::int64_t pool,
                                             const std::vector<double>& temperatures,
                                             const std::optional<std::int64_t>& gamma, double c,
                                             const std::vector<double>& verification, std::int64_t width,
                                             std::int64_t servers, std::uint64_t iterations, std::uint64_t seed,
                                             const std::string& tables, unsigned threads) {
  MethodsQuestion question;
  question.methods = methods;
  question.models.alpha = alpha;
  question.models.vocabulary = vocabulary;
  question.models.pool = pool;
  question.temperatures = temperatures;
  question.gamma = gamma;
  question.price.c = c;
  question.price.verification = verification;
  question.width = width;
  question.servers = servers;
  question.iterations = iterations;
  question.seed = seed;
  AnswerTexts answer =
      run_interruptibly([&](const std::atomic<bool>& stop,
                            ProgressBoard&) { return methods_comparison(question, tables, threads, &stop); },
                        nb::none());
  return {std::move(answer.json), std::move(answer.text)};
}

}  // namespace

void bind_methods(nb::module_& module) {
  module.def("compared_methods", compared_methods);
  module.def("compare_methods", compare, nb::arg("methods"), nb::arg("alpha"), nb::arg("vocabulary"), nb::arg("pool"),
             nb::arg("temperatures"), nb::arg("gamma").none(), nb::arg("c"), nb::arg("verification"), nb::arg("width"),
             nb::arg("servers"), nb::arg("iterations"), nb::arg("seed"), nb::arg("tables"), nb::arg("threads"));
}

}  // namespace foredraft::python
