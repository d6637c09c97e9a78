// SPDX-License-Identifier: Apache-2.0
#include "python/points.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <variant>

#include "analytic/answer/answer.hpp"
#include "analytic/answer/iid_arrays.hpp"
#include "core/parallel.hpp"
#include "core/problems.hpp"
#include "foredraft/errors.hpp"
#include "inputs/inputs.hpp"
#include "scenario/check.hpp"
#include "scenario/parameters.hpp"

namespace foredraft::python {
namespace {

constexpr std::string_view messages_from = "foredraft";
/// Points that a thread computes at a time, in vectors or one by one. vector_block values share a fingerprint.
constexpr std::size_t vector_block = 4096;
constexpr std::size_t scalar_block = 1024;
/// Rows of this many points are computed one by one, because their common part is then computed once.
constexpr std::size_t min_row = 256;
constexpr std::string_view no_finite_best = "no finite best gamma (the speedup grows with every length)";

/// Waking other threads takes longer than reading this many values, or as many points in vectors.
unsigned threads_for(std::size_t points, unsigned threads) {
  constexpr std::size_t few = std::size_t{1} << 16U;
  return points < few ? 1 : threads;
}

DomainError error_at(std::size_t point, std::string_view why) {
  return DomainError(fmt::format("{}: at index {}: {}", messages_from, point, why));
}

/// The first point that has value `index` of the array.
std::size_t first_point(const Varying& varying, std::size_t index, std::span<const std::size_t> shape) {
  std::size_t point = 0;
  std::size_t stride = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::size_t length =
        axis < varying.shape.size() ? varying.shape[varying.shape.size() - 1 - axis] : std::size_t{1};
    point += index % length * stride;
    index /= length;
    stride *= shape[shape.size() - 1 - axis];
  }
  return point;
}

/// Facts about an array, from reading all of it.
struct Look {
  std::optional<std::size_t> illegal;       ///< the first value that the parameter does not allow
  std::vector<std::uint64_t> fingerprints;  ///< of each vector_block values
};

/// The values that share fingerprint `block`.
std::span<const double> block_of(const Varying& varying, std::size_t block) {
  const std::size_t first = block * vector_block;
  return varying.values.subspan(first, std::min(vector_block, varying.values.size() - first));
}

Look look_at(const Varying& varying, unsigned threads) {
  const scenario::Parameter& number = *find_number(varying.parameter);
  const scenario::ValueRange& range = scenario::find_parameter(varying.parameter)->range;
  const bool whole = is_integer(number) || range.whole;
  const bool open = range.excludes_minimum || range.excludes_maximum;
  const std::size_t blocks = (varying.values.size() + vector_block - 1) / vector_block;
  Look look{.illegal = std::nullopt, .fingerprints = std::vector<std::uint64_t>(blocks)};
  std::vector<std::optional<std::size_t>> illegal(blocks);
  parallel_for(blocks, threads_for(varying.values.size(), threads), [&](std::uint64_t block) {
    const std::span<const double> part = block_of(varying, block);
    const auto [inside, fingerprint] = analytic::judged(part, range.minimum, range.maximum, whole);
    look.fingerprints[block] = fingerprint;
    if (inside && !open) return;
    const auto found = std::ranges::find_if_not(part, [&](double value) { return is_legal(number, value); });
    if (found != part.end()) illegal[block] = static_cast<std::size_t>(&*found - varying.values.data());
  });
  const auto first = std::ranges::find_if(illegal, [](const auto& index) { return index.has_value(); });
  if (first != illegal.end()) look.illegal = *first;
  return look;
}

/// Whether iid_arrays can evaluate the scenario for any alpha, gamma and c.
bool has_vectors(const Scenario& scenario) {
  const auto* process = std::get_if<ProcessFidelity>(&scenario.fidelity);
  const auto* cost = std::get_if<ConstantRatio>(&scenario.cost);
  return process != nullptr && std::holds_alternative<Iid>(process->acceptance) &&
         std::holds_alternative<ConstantGamma>(process->policy) && !process->sequence_length &&
         std::holds_alternative<AutoregressiveDrafter>(scenario.drafter) && cost != nullptr && cost->c &&
         cost->verify_growth == 0.0;
}

std::size_t index_of(std::string_view name) {
  const auto& facts = quantity_facts();
  const auto found = std::ranges::find(facts, name, &QuantityFacts::name);
  if (found == facts.end()) throw std::logic_error(fmt::format("no quantity {}", name));
  return static_cast<std::size_t>(found - facts.begin());
}

std::size_t tokens_index() {
  static const std::size_t index = index_of("tokens_per_iteration");
  return index;
}

std::size_t speedup_index() {
  static const std::size_t index = index_of("speedup");
  return index;
}

/// Memory for a column. A large one has large pages: touching small ones takes longer than the closed forms.
Column column_of(std::size_t count) {
  constexpr std::uintptr_t page = std::uintptr_t{1} << 12U;
  constexpr std::size_t large = std::size_t{1} << 22U;
  const std::size_t bytes = std::max(count, std::size_t{1}) * sizeof(double);
  Column column(static_cast<double*>(std::malloc(bytes)));
  if (!column) throw std::bad_alloc();
  if (bytes >= large) {
    char* const memory = reinterpret_cast<char*>(column.get());
    const std::size_t offset = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
    ::madvise(memory + offset, bytes - offset, MADV_HUGEPAGE);
  }
  return column;
}

double value_at(std::span<const double> values, std::size_t i) { return values.size() > 1 ? values[i] : values[0]; }

/// The columns that blocks of points fill, each from any thread. A block omits the quantities that are unknown at all
/// of its points: memory of a column that no block writes is never touched.
class ColumnWriter {
 public:
  ColumnWriter(std::span<const std::size_t> wanted, Columns& columns, std::size_t points)
      : wanted_(wanted), columns_(columns), points_(points), written_((points + scalar_block - 1) / scalar_block) {}

  void write(std::size_t block, std::span<const ClosedForm> answers) {
    const std::size_t first = block * scalar_block;
    for (const std::size_t i : wanted_) {
      const auto quantity = quantity_facts()[i].closed_form;
      const auto known = [&](const ClosedForm& answer) { return !std::isnan(answer.*quantity); };
      if (std::none_of(answers.begin(), answers.end(), known)) continue;
      written_[block].set(i);
      double* to = columns_.quantities[i].get() + first;
      for (const ClosedForm& answer : answers) *to++ = answer.*quantity;
    }
  }

  /// Drops the columns that are unknown at every point.
  void finish() {
    for (const std::size_t i : wanted_) {
      Column& column = columns_.quantities[i];
      const auto has = [i](const Written& block) { return block.test(i); };
      if (std::none_of(written_.begin(), written_.end(), has)) {
        column.reset();
        continue;
      }
      for (std::size_t block = 0; block < written_.size(); ++block) {
        if (has(written_[block])) continue;
        const std::size_t first = block * scalar_block;
        std::fill_n(column.get() + first, std::min(scalar_block, points_ - first), unknown<double>);
      }
    }
  }

 private:
  using Written = std::bitset<64>;

  std::span<const std::size_t> wanted_;
  Columns& columns_;
  std::size_t points_;
  std::vector<Written> written_;  ///< quantities that each block wrote
};

}  // namespace

BroadcastValues::BroadcastValues(const Varying& varying, std::span<const std::size_t> shape)
    : first_(varying.values.data()) {
  std::size_t stride = varying.values.size();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::size_t added = shape.size() - varying.shape.size();  // axes that the array lacks come first
    const std::size_t own = axis < added ? 1 : varying.shape[axis - added];
    stride /= own;
    const Axis next{.length = shape[axis], .stride = own == 1 ? 0 : stride};
    if (next.length == 1) continue;
    if (!axes_.empty() && axes_.back().stride == next.stride * next.length) {
      axes_.back() = {.length = axes_.back().length * next.length, .stride = next.stride};
    } else {
      axes_.push_back(next);
    }
  }
}

const double* BroadcastValues::start_of(std::size_t run) const {
  const double* start = first_;
  for (std::size_t axis = axes_.size() - 1; axis-- > 0;) {
    start += run % axes_[axis].length * axes_[axis].stride;
    run /= axes_[axis].length;
  }
  return start;
}

std::span<const double> BroadcastValues::read(std::size_t first, std::size_t count, std::vector<double>& buffer) const {
  if (axes_.empty()) return {first_, 1};
  const auto [length, stride] = axes_.back();
  std::size_t run = first / length;
  std::size_t inside = first % length;
  if (inside + count <= length) {
    const double* start = start_of(run) + inside * stride;
    return {start, stride == 0 ? std::size_t{1} : count};
  }
  buffer.resize(count);
  for (std::size_t filled = 0; filled < count; ++run, inside = 0) {
    const std::size_t part = std::min(length - inside, count - filled);
    const double* start = start_of(run) + inside * stride;
    if (stride == 0) {
      std::fill_n(buffer.data() + filled, part, *start);
    } else {
      std::copy_n(start, part, buffer.data() + filled);
    }
    filled += part;
  }
  return buffer;
}

Points::Points(const CheckedQuestion& base, const std::vector<Varying>& varying, const std::vector<std::size_t>& shape,
               bool best, unsigned threads)
    : scenario_(base.scenario()), names_files_(base.names_files()), best_(best) {
  for (const std::size_t length : shape) size_ *= length;
  if (!shape.empty() && shape.back() >= min_row) row_ = shape.back();
  if (size_ == 0) return;
  plain_ = has_vectors(scenario_);
  for (const Varying& one : varying) {
    const scenario::Parameter* parameter = find_number(one.parameter);
    if (parameter == nullptr) throw std::logic_error(one.parameter + " takes no number");
    numbers_.push_back({.varying = one, .parameter = parameter, .values = BroadcastValues(one, shape)});
    plain_ = plain_ && (one.parameter == "alpha" || one.parameter == "gamma" || one.parameter == "c");
  }
  check_values(shape, threads);
  if (!plain_) return;
  alpha_ = std::get<Iid>(std::get<ProcessFidelity>(scenario_.fidelity).acceptance).alpha;
  gamma_ = static_cast<double>(scenario_.gamma);
  c_ = std::get<ConstantRatio>(scenario_.cost).c.value();
  check_gammas(shape);
  if (best_) check_bounded();
}

void Points::check_values(std::span<const std::size_t> shape, unsigned threads) {
  ProblemList problems{std::string(messages_from)};
  for (Number& number : numbers_) {
    const Varying& one = number.varying;
    auto [at, fingerprints] = look_at(one, threads);
    number.fingerprints = std::move(fingerprints);
    if (!at) continue;
    std::string why = scenario::problem(*scenario::find_parameter(one.parameter), one.values[*at]);
    if (why.empty()) why = "must be a whole number";
    problems.add(
        {.key = one.parameter,
         .text = fmt::format("invalid {}={} at index {}", one.parameter, one.values[*at], first_point(one, *at, shape)),
         .why = std::move(why)});
  }
  problems.raise();
}

void Points::Number::check_unchanged(std::size_t block) const {
  if (analytic::judged(block_of(varying, block), 0.0, 0.0, false).fingerprint == fingerprints[block]) return;
  throw InputError(
      fmt::format("{}: {}: the array has changed since predict() - pass a copy", messages_from, varying.parameter));
}

void Points::check_unchanged(bool read_in_blocks, unsigned threads) const {
  for (const Number& number : numbers_) {
    if (read_in_blocks && number.values.is_flat()) continue;
    parallel_for(number.fingerprints.size(), threads_for(number.varying.values.size(), threads),
                 [&](std::uint64_t block) { number.check_unchanged(block); });
  }
}

void Points::check_gammas(std::span<const std::size_t> shape) const {
  // Which gammas are legal also depends on the convention.
  const Varying* const one = varying_of("gamma");
  const auto minimum = static_cast<double>(min_gamma(scenario_.convention));
  const scenario::ValueRange& range = scenario::find_parameter("gamma")->range;
  if (one == nullptr || range.minimum >= minimum) return;
  Scenario scenario = scenario_;
  for (std::size_t i = 0; i < one->values.size(); ++i) {
    if (one->values[i] >= minimum) continue;
    scenario.gamma = static_cast<std::int64_t>(one->values[i]);
    try {
      scenario::check_scenario(scenario);
    } catch (const DomainError& error) {
      throw error_at(first_point(*one, i, shape), error.what());
    }
  }
}

void Points::check_bounded() const {
  const BroadcastValues alphas = values_of("alpha", &alpha_);
  const BroadcastValues costs = values_of("c", &c_);
  const bool has_bonus = scenario_.convention == Convention::bonus;
  std::vector<double> alpha_buffer;
  std::vector<double> c_buffer;
  for (std::size_t first = 0; first < size_; first += vector_block) {
    const std::size_t count = std::min(vector_block, size_ - first);
    const std::span<const double> alpha = alphas.read(first, count, alpha_buffer);
    const std::span<const double> c = costs.read(first, count, c_buffer);
    const std::size_t differing = std::max(alpha.size(), c.size());
    for (std::size_t i = 0; i < differing; ++i) {
      const double one_alpha = value_at(alpha, i);
      const double one_c = value_at(c, i);
      if (one_alpha != 1.0 && one_c != 0.0) continue;
      if (has_bonus ? one_c < one_alpha : one_alpha > 0.0) throw error_at(first + i, no_finite_best);
    }
  }
}

const Varying* Points::varying_of(std::string_view name) const {
  for (const Number& number : numbers_) {
    if (number.varying.parameter == name) return &number.varying;
  }
  return nullptr;
}

BroadcastValues Points::values_of(std::string_view name, const double* otherwise) const {
  for (const Number& number : numbers_) {
    if (number.varying.parameter == name) return number.values;
  }
  return BroadcastValues(otherwise);
}

bool Points::is_in_vectors(const std::vector<std::string>& names) const {
  const auto in_vectors = [](const std::string& name) {
    return name == "gamma" || name == quantity_facts()[tokens_index()].name ||
           name == quantity_facts()[speedup_index()].name;
  };
  return plain_ && !names.empty() && std::ranges::all_of(names, in_vectors);
}

std::vector<std::string_view> Points::known() const {
  // Whether a quantity is known depends on whether anything is drafted.
  Scenario scenario = scenario_;
  std::vector<double> buffer;
  const BroadcastValues gammas = values_of("gamma", &gamma_);
  for (std::size_t first = 0; first < size_; first += vector_block) {
    const auto gamma = gammas.read(first, std::min(vector_block, size_ - first), buffer);
    scenario.gamma = static_cast<std::int64_t>(*std::ranges::max_element(gamma));
    if (scenario.gamma > 0) break;
  }
  const ClosedForm answer = analytic::answer(scenario);
  std::vector<std::string_view> names;
  for (const QuantityFacts& facts : quantity_facts()) {
    if (facts.closed_form != nullptr && !std::isnan(answer.*facts.closed_form)) names.push_back(facts.name);
  }
  if (best_) names.emplace_back("gamma");
  return names;
}

Columns Points::columns(const std::vector<std::string>& names, std::size_t count) const {
  const auto& facts = quantity_facts();
  const auto asked = [&](std::string_view name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  Columns columns;
  for (const QuantityFacts& one : facts) {
    columns.quantities.push_back(one.closed_form != nullptr && asked(one.name) ? column_of(count) : Column());
  }
  if (best_ && asked("gamma")) columns.gamma = column_of(count);
  return columns;
}

void Points::answer(Columns& columns, std::size_t first, std::size_t count, unsigned threads,
                    const std::atomic<bool>* stop) const {
  std::vector<std::size_t> one_by_one;
  for (std::size_t i = 0; i < columns.quantities.size(); ++i) {
    const bool in_vectors = plain_ && (i == tokens_index() || i == speedup_index());
    if (columns.quantities[i] && !in_vectors) one_by_one.push_back(i);
  }
  if (plain_) {
    check_unchanged(one_by_one.empty() && first % vector_block == 0, threads);
    answer_in_vectors(columns, {first, count}, threads, stop);
    if (one_by_one.empty()) return;
  }
  answer_one_by_one(one_by_one, columns, {first, count}, threads, stop);
}

analytic::IidPoints Points::plain_points(Range range, Buffers& buffers) const {
  analytic::IidPoints points{.alpha = values_of("alpha", &alpha_).read(range.first, range.count, buffers[0]),
                             .gamma = {},
                             .c = values_of("c", &c_).read(range.first, range.count, buffers[1]),
                             .convention = scenario_.convention};
  if (best_) {
    buffers[2].resize(range.count);
    analytic::best_gammas(points, buffers[2]);
    points.gamma = buffers[2];
  } else {
    points.gamma = values_of("gamma", &gamma_).read(range.first, range.count, buffers[2]);
  }
  return points;
}

void Points::answer_in_vectors(const Columns& columns, Range range, unsigned threads,
                               const std::atomic<bool>* stop) const {
  double* const tokens = columns.quantities[tokens_index()].get();
  double* const speedups = columns.quantities[speedup_index()].get();
  double* const gammas = columns.gamma.get();
  if (tokens == nullptr && speedups == nullptr && gammas == nullptr) return;
  parallel_for((range.count + vector_block - 1) / vector_block, threads_for(range.count, threads),
               [&](std::uint64_t block) {
                 StopToken(stop).check();
                 const std::size_t at = static_cast<std::size_t>(block) * vector_block;
                 const std::size_t count = std::min(vector_block, range.count - at);
                 if (range.first % vector_block == 0) {
                   for (const Number& number : numbers_) {
                     if (number.values.is_flat()) number.check_unchanged((range.first + at) / vector_block);
                   }
                 }
                 Buffers buffers;
                 for (std::size_t done = 0; done < count;) {
                   const std::size_t first = range.first + at + done;
                   const std::size_t part = std::min(count - done, row_ - first % row_);
                   const analytic::IidPoints points = plain_points({first, part}, buffers);
                   if (tokens != nullptr) analytic::tokens_per_iteration(points, {tokens + at + done, part});
                   if (speedups != nullptr) analytic::speedups(points, {speedups + at + done, part});
                   if (gammas != nullptr) std::ranges::copy(points.gamma, gammas + at + done);
                   done += part;
                 }
               });
}

void Points::answer_one_by_one(std::span<const std::size_t> wanted, Columns& columns, Range range, unsigned threads,
                               const std::atomic<bool>* stop) const {
  ColumnWriter writer(wanted, columns, range.count);
  inputs::Inputs inputs;  // reads every file once
  parallel_for((range.count + scalar_block - 1) / scalar_block, threads, [&](std::uint64_t block) {
    StopToken(stop).check();
    const std::size_t at = static_cast<std::size_t>(block) * scalar_block;
    const std::size_t count = std::min(scalar_block, range.count - at);
    std::vector<ClosedForm> answers(count);
    if (plain_) {
      answer_plain({range.first + at, count}, answers);
    } else {
      answer_any({range.first + at, count}, inputs, answers, columns.gamma ? columns.gamma.get() + at : nullptr);
    }
    writer.write(static_cast<std::size_t>(block), answers);
  });
  writer.finish();
}

void Points::answer_plain(Range range, std::span<ClosedForm> answers) const {
  Buffers buffers;
  const analytic::IidPoints points = plain_points(range, buffers);
  Scenario scenario = scenario_;
  for (std::size_t i = 0; i < range.count; ++i) {
    std::get<Iid>(std::get<ProcessFidelity>(scenario.fidelity).acceptance).alpha = value_at(points.alpha, i);
    std::get<ConstantRatio>(scenario.cost).c = value_at(points.c, i);
    scenario.gamma = static_cast<std::int64_t>(value_at(points.gamma, i));
    answers[i] = analytic::answer(scenario);
  }
}

void Points::answer_any(Range range, inputs::Inputs& inputs, std::span<ClosedForm> answers, double* gammas) const {
  std::vector<std::vector<double>> buffers(numbers_.size());
  std::vector<std::span<const double>> values;
  for (std::size_t k = 0; k < numbers_.size(); ++k) {
    values.push_back(numbers_[k].values.read(range.first, range.count, buffers[k]));
  }
  Scenario scenario = scenario_;
  for (std::size_t i = 0; i < range.count; ++i) {
    try {
      for (std::size_t k = 0; k < numbers_.size(); ++k) {
        assign(*numbers_[k].parameter, value_at(values[k], i), scenario);
      }
      if (names_files_) inputs.attach(scenario);
      if (best_) {
        const auto gamma = best_draft_length(scenario).gamma;
        if (!gamma) throw DomainError(std::string(no_finite_best));
        scenario.gamma = *gamma;
        if (gammas != nullptr) gammas[i] = static_cast<double>(*gamma);
      }
      answers[i] = predict(scenario);
    } catch (const DomainError& error) {
      throw error_at(range.first + i, error.what());
    }
  }
}

}  // namespace foredraft::python
