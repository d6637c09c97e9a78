// SPDX-License-Identifier: Apache-2.0
// Quantities as values of Python: NaN means unknown and equals itself.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "python/bind.hpp"

namespace nb = nanobind;

namespace foredraft::python {
namespace {

bool is_known(double number) { return !std::isnan(number); }
bool is_known(const Estimate& estimate) { return is_known(estimate.mean); }
bool same(double one, double other) { return one == other || (!is_known(one) && !is_known(other)); }
bool same(const Estimate& one, const Estimate& other) {
  return same(one.mean, other.mean) && same(one.standard_error, other.standard_error);
}

/// The known quantities by name. `which`: the member of a quantity, for closed forms or for estimates.
template <class Number, class Which>
nb::dict known_of(const Quantities<Number>& quantities, Which which) {
  nb::dict known;
  for (const QuantityFacts& facts : quantity_facts()) {
    if (facts.*which == nullptr || !is_known(quantities.*(facts.*which))) continue;
    known[nb::str(facts.name.data(), facts.name.size())] = nb::cast(quantities.*(facts.*which));
  }
  return known;
}

template <class Number>
Quantities<Number> quantities_of(const nb::dict& known, Number Quantities<Number>::*QuantityFacts::*which) {
  Quantities<Number> quantities;
  for (const QuantityFacts& facts : quantity_facts()) {
    const nb::str name(facts.name.data(), facts.name.size());
    if (facts.*which != nullptr && known.contains(name)) quantities.*(facts.*which) = nb::cast<Number>(known[name]);
  }
  return quantities;
}

template <class Number, class Which>
bool same_quantities(const Quantities<Number>& one, const Quantities<Number>& other, Which which) {
  return std::ranges::all_of(quantity_facts(), [&](const QuantityFacts& facts) {
    return facts.*which == nullptr || same(one.*(facts.*which), other.*(facts.*which));
  });
}

}  // namespace

void bind_answers(nb::module_& module) {
  const nb::sig compares("def __eq__(self, other: object, /) -> bool");
  const nb::sig shows("def __repr__(self) -> str");
  nb::class_<Estimate>(module, "Estimate",
                       "A mean with its standard error (NaN: not known).\n\n"
                       ">>> fd.Estimate(2.95, 0.01).ci95[0] < 2.95\n"
                       "True")
      .def(nb::init<double, double>(), nb::arg("mean"), nb::arg("standard_error"))
      .def_ro("mean", &Estimate::mean, "The estimate.")
      .def_ro("standard_error", &Estimate::standard_error, "Of the mean; NaN: not known.")
      .def_prop_ro(
          "ci95",
          [](const Estimate& one) {
            constexpr double normal_quantile = 1.959963984540054;
            const double half = normal_quantile * one.standard_error;
            return std::pair(one.mean - half, one.mean + half);
          },
          "The 95 % interval (low, high).")
      .def("__float__", [](const Estimate& one) { return one.mean; })
      .def(
          "__eq__", [](const Estimate& one, const Estimate& other) { return same(one, other); }, nb::is_operator(),
          compares)
      .def("__reduce__",
           [](const Estimate& one) {
             return nb::make_tuple(nb::type<Estimate>(), nb::make_tuple(one.mean, one.standard_error));
           })
      .def(
          "__repr__",
          [](const Estimate& one) {
            return nb::str("Estimate({:.6g} +- {:.2g})").attr("format")(one.mean, one.standard_error);
          },
          shows);
  nb::class_<ClosedForm> closed_form(module, "Prediction",
                                     "Closed forms of one scenario. NaN: not known, or not asked for; infinite: "
                                     "unbounded.\n\n"
                                     ">>> fd.predict(alpha=0.5, gamma=1, c=0.5).speedup\n"
                                     "1.0");
  nb::class_<Simulated> simulated(
      module, "Simulation",
      "Estimates of one scenario, each with its standard error.\n\n"
      ">>> fd.simulate(alpha=1.0, gamma=3, c=0.0, iterations=10).tokens_per_iteration.mean\n"
      "4.0");
  for (const QuantityFacts& facts : quantity_facts()) {
    std::string text(facts.meaning);
    if (!facts.unit.empty()) text += " (" + std::string(facts.unit) + ")";
    const std::string name(facts.name);
    if (facts.closed_form != nullptr) closed_form.def_ro(name.c_str(), facts.closed_form, text.c_str());
    if (facts.estimate != nullptr) {
      simulated.def_prop_ro(
          name.c_str(), [which = facts.estimate](const Simulated& one) { return one.estimates.*which; }, text.c_str());
    }
  }
  closed_form.def(
      "to_dict", [](const ClosedForm& one) { return known_of(one, &QuantityFacts::closed_form); },
      nb::sig("def to_dict(self) -> dict[str, float]"), "The quantities that are known.");
  closed_form.def(
      "__repr__", [](nb::handle self) { return nb::str("Prediction({})").attr("format")(self.attr("to_dict")()); },
      shows);
  closed_form.def("__getstate__", [](const ClosedForm& one) { return known_of(one, &QuantityFacts::closed_form); })
      .def("__setstate__",
           [](ClosedForm& one, const nb::dict& known) {
             new (&one) ClosedForm(quantities_of(known, &QuantityFacts::closed_form));
           })
      .def(
          "__eq__",
          [](const ClosedForm& one, const ClosedForm& other) {
            return same_quantities(one, other, &QuantityFacts::closed_form);
          },
          nb::is_operator(), compares);
  simulated.def_ro("iterations", &Simulated::iterations, "Simulated draft-and-verify iterations.")
      .def_ro("units", &Simulated::units, "Independent units that the standard errors rest on.")
      .def_ro("unsteady", &Simulated::unsteady,
              "Why a server's estimates are not from a steady state, and what to set; empty if they are.")
      .def(
          "to_dict", [](const Simulated& one) { return known_of(one.estimates, &QuantityFacts::estimate); },
          nb::sig("def to_dict(self) -> dict[str, Estimate]"), "The quantities that were estimated.")
      .def("__getstate__",
           [](const Simulated& one) {
             return nb::make_tuple(known_of(one.estimates, &QuantityFacts::estimate), one.iterations, one.units,
                                   one.unsteady);
           })
      .def("__setstate__",
           [](Simulated& one, const std::tuple<nb::dict, std::uint64_t, std::uint64_t, std::string>& state) {
             const auto& [known, iterations, units, unsteady] = state;
             new (&one) Simulated{quantities_of(known, &QuantityFacts::estimate), iterations, units, unsteady};
           })
      .def(
          "__eq__",
          [](const Simulated& one, const Simulated& other) {
            return one.iterations == other.iterations && one.units == other.units &&
                   same_quantities(one.estimates, other.estimates, &QuantityFacts::estimate);
          },
          nb::is_operator(), compares)
      .def(
          "__repr__", [](nb::handle self) { return nb::str("Simulation({})").attr("format")(self.attr("to_dict")()); },
          shows);
  nb::class_<BestDraftLength>(module, "BestGamma",
                              "The constant draft length with the maximum speedup.\n\n"
                              ">>> fd.best_gamma(alpha=0.8, c=0.05).gamma\n"
                              "8")
      .def_ro("gamma", &BestDraftLength::gamma,
              "Drafted tokens per iteration; None: unbounded, the speedup grows with every length.")
      .def_ro("speedup", &BestDraftLength::speedup, "Over autoregressive decoding; the limit if gamma is None.")
      .def_ro("first_near_best", &BestDraftLength::first_near_best, "Shortest draft within 1 % of the best speedup.")
      .def_ro("last_near_best", &BestDraftLength::last_near_best, "Longest draft within 1 % of the best speedup.")
      .def("__getstate__",
           [](const BestDraftLength& best) {
             return nb::make_tuple(best.gamma, best.speedup, best.first_near_best, best.last_near_best);
           })
      .def("__setstate__",
           [](BestDraftLength& best, const std::tuple<std::optional<std::int64_t>, double, std::optional<std::int64_t>,
                                                      std::optional<std::int64_t>>& state) {
             const auto& [gamma, speedup, first, last] = state;
             new (&best) BestDraftLength{gamma, speedup, first, last};
           })
      .def(
          "__eq__",
          [](const BestDraftLength& one, const BestDraftLength& other) {
            return one.gamma == other.gamma && same(one.speedup, other.speedup) &&
                   one.first_near_best == other.first_near_best && one.last_near_best == other.last_near_best;
          },
          nb::is_operator(), compares)
      .def(
          "__repr__",
          [](const BestDraftLength& best) {
            return nb::str("BestGamma(gamma={}, speedup={:.6g})").attr("format")(nb::cast(best.gamma), best.speedup);
          },
          shows);
}

}  // namespace foredraft::python
