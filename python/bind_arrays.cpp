// SPDX-License-Identifier: Apache-2.0
// Arrays: many points at once, recorded outcomes, distributions.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foredraft/lossiness.hpp"
#include "python/bind.hpp"
#include "python/long_work.hpp"
#include "python/points.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

using RealArray = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using AnyShape = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using OutcomeInput = nb::ndarray<const std::int8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MatrixInput = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object array_of(Column values, std::size_t size) {
  double* const data = values.release();
  const nb::capsule owner(data, [](void* held) noexcept { FreeMemory()(static_cast<double*>(held)); });
  return nb::cast(RealArray(data, {size}, owner));
}

/// Points, and the arrays that they read.
struct HeldPoints {
  std::vector<AnyShape> arrays;
  Points points;
};

HeldPoints points_of(const CheckedQuestion& base, const std::vector<std::pair<std::string, AnyShape>>& arrays,
                     const std::vector<std::size_t>& shape, bool best, unsigned threads) {
  std::vector<AnyShape> held;
  std::vector<Varying> varying;
  for (const auto& [keyword, values] : arrays) {
    const auto* lengths = values.shape_ptr();
    varying.push_back({.parameter = name_of(keyword),
                       .values = {values.data(), values.size()},
                       .shape = {lengths, lengths + values.ndim()}});
    held.push_back(values);
  }
  Points points(base, varying, shape, best, threads);
  return {std::move(held), std::move(points)};
}

/// Points::answer as a dictionary; unknown quantities are left out.
nb::dict answer_points(const HeldPoints& held, const std::vector<std::string>& names, std::size_t first,
                       std::size_t count, unsigned threads) {
  Columns columns = held.points.columns(names, count);
  constexpr std::size_t few = std::size_t{1} << 22U;  // some milliseconds, less than between_looks
  if (held.points.is_in_vectors(names) && count <= few) {
    const nb::gil_scoped_release release;
    held.points.answer(columns, first, count, threads, nullptr);
  } else {
    run_interruptibly(
        [&](const std::atomic<bool>& stop, ProgressBoard&) {
          held.points.answer(columns, first, count, threads, &stop);
          return true;
        },
        nb::none());
  }
  nb::dict known;
  for (std::size_t i = 0; i < columns.quantities.size(); ++i) {
    if (!columns.quantities[i]) continue;
    const std::string_view name = quantity_facts()[i].name;
    known[nb::str(name.data(), name.size())] = array_of(std::move(columns.quantities[i]), count);
  }
  if (columns.gamma) known["gamma"] = array_of(std::move(columns.gamma), count);
  return known;
}

std::shared_ptr<const Recording> recording_of(const OutcomeInput& outcomes) {
  auto recording = std::make_shared<Recording>();
  for (std::size_t row = 0; row < outcomes.shape(0); ++row) {
    const std::int8_t* first = outcomes.data() + row * outcomes.shape(1);
    recording->sequences.emplace_back(first, first + outcomes.shape(1));
  }
  return recording;
}

std::vector<std::vector<double>> rows_of(const MatrixInput& matrix) {
  std::vector<std::vector<double>> rows;
  rows.reserve(matrix.shape(0));
  for (std::size_t row = 0; row < matrix.shape(0); ++row) {
    const double* first = matrix.data() + row * matrix.shape(1);
    rows.emplace_back(first, first + matrix.shape(1));
  }
  return rows;
}

/// `rule`: acceptance, replacement and optionally bonus; or empty.
CheckedQuestion question_of_distributions(const nb::dict& parameters, const MatrixInput& target,
                                          const MatrixInput& draft, const std::vector<MatrixInput>& rule) {
  auto given = std::make_shared<GivenDistributions>();
  given->target = rows_of(target);
  given->draft = rows_of(draft);
  if (!rule.empty()) given->acceptance = rows_of(rule[0]);
  if (rule.size() > 1) given->replacement = rows_of(rule[1]);
  if (rule.size() > 2) given->bonus = rows_of(rule[2]);
  return CheckedQuestion(inputs_of(parameters), std::shared_ptr<const GivenDistributions>(std::move(given)));
}

nb::object matrix_of(const std::vector<std::vector<double>>& rows) {
  const std::size_t columns = rows.front().size();
  auto values = std::make_unique_for_overwrite<double[]>(rows.size() * columns);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::copy(rows[row].begin(), rows[row].end(), values.get() + row * columns);
  }
  double* const data = values.release();
  const nb::capsule owner(data, [](void* held) noexcept { delete[] static_cast<double*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<2>>(data, {rows.size(), columns}, owner));
}

/// The lossiness of a rule, and the emitted distributions.
nb::dict loss_of(const CheckedQuestion& question, std::uint64_t seed, std::int64_t tokens) {
  const auto [loss, emitted] = run_interruptibly(
      [&](const std::atomic<bool>&, ProgressBoard&) {
        return std::pair(lossiness(question.scenario(), seed, tokens),
                         emitted_distributions(question.scenario(), seed));
      },
      nb::none());
  nb::dict answer;
  answer["acceptance"] = loss.acceptance;
  answer["acceptance_gain"] = loss.acceptance_gain;
  answer["total_variation"] = loss.total_variation;
  answer["kl_divergence"] = loss.kl_divergence;
  answer["entropy_change"] = loss.entropy_change;
  answer["top1_agreement"] = loss.top1_agreement;
  answer["top1_probability"] = loss.top1_probability;
  answer["joint_total_variation"] = loss.joint_total_variation;
  answer["emitted"] = matrix_of(emitted);
  return answer;
}

}  // namespace

void bind_arrays(nb::module_& module, nb::class_<CheckedQuestion>& question_class) {
  question_class
      .def_static("replay",
                  [](const nb::dict& parameters, const OutcomeInput& outcomes) {
                    return CheckedQuestion(inputs_of(parameters),
                                           std::shared_ptr<const Recording>(recording_of(outcomes)));
                  })
      .def_static("of_distributions", question_of_distributions);
  nb::class_<HeldPoints>(module, "Points")
      .def_static("of", points_of)
      .def_prop_ro("is_plain", [](const HeldPoints& held) { return held.points.is_plain(); })
      .def("known",
           [](const HeldPoints& held) {
             std::vector<std::string> names;
             for (const std::string_view name : held.points.known()) names.emplace_back(name);
             return names;
           })
      .def("check_unchanged",
           [](const HeldPoints& held, unsigned threads) { held.points.check_unchanged(false, threads); })
      .def("answer", answer_points);
  module.def("lossiness", loss_of);
}

}  // namespace foredraft::python
