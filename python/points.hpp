// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foredraft/quantities.hpp"
#include "foredraft/scenario.hpp"
#include "python/internal.hpp"

namespace foredraft::analytic {
struct IidPoints;
}
namespace foredraft::inputs {
class Inputs;
}

/// Closed forms of many points; each quantity is computed on request.
namespace foredraft::python {

/// A parameter whose value varies between points.
struct Varying {
  std::string parameter;
  std::span<const double> values;  ///< in C order; must outlive the points
  std::vector<std::size_t> shape;  ///< broadcasts to that of the points
};

/// The values of one parameter at consecutive points, in C order: read in place if possible.
class BroadcastValues {
 public:
  /// `shape`: of the points.
  BroadcastValues(const Varying& varying, std::span<const std::size_t> shape);
  /// One value for all points.
  explicit BroadcastValues(const double* value) : first_(value) {}

  /// The values of points [first, first + count), in `buffer` where they are not consecutive; one value if all share
  /// it.
  [[nodiscard]] std::span<const double> read(std::size_t first, std::size_t count, std::vector<double>& buffer) const;

  /// Whether there is one value per point.
  [[nodiscard]] bool is_flat() const { return axes_.size() == 1 && axes_.front().stride == 1; }

 private:
  struct Axis {
    std::size_t length;
    std::size_t stride;  ///< in values; 0 if all share one
  };
  [[nodiscard]] const double* start_of(std::size_t run) const;

  const double* first_;
  std::vector<Axis> axes_ = {};  ///< merged if possible; the last one has stride 0 or 1
};

struct FreeMemory {
  void operator()(double* memory) const { std::free(memory); }
};
/// One value per point.
using Column = std::unique_ptr<double[], FreeMemory>;

/// Closed forms of consecutive points.
struct Columns {
  std::vector<Column> quantities;  ///< as quantity_facts(); null: not requested, or NaN at every point
  Column gamma;                    ///< the best one, if requested; else null
};

/// Questions that differ from a checked one in a few numbers.
class Points {
 public:
  /// `best`: each at its best draft length. Throws InputError with a line for each parameter that has an illegal
  /// number, and under is_plain() DomainError for a point without an answer, both with the index of the first one.
  Points(const CheckedQuestion& base, const std::vector<Varying>& varying, const std::vector<std::size_t>& shape,
         bool best, unsigned threads);

  [[nodiscard]] std::size_t size() const { return size_; }

  /// Whether every point has an answer, so that quantities can be computed on request: i.i.d. acceptance, drafts of
  /// constant length of a draft model, a cost ratio, and arrays of these only. Tokens, speedup and gamma are then
  /// computed in vectors.
  [[nodiscard]] bool is_plain() const { return plain_; }

  /// Whether all these quantities are computed in vectors.
  [[nodiscard]] bool is_in_vectors(const std::vector<std::string>& names) const;

  /// The quantities that are known at some point, under is_plain().
  [[nodiscard]] std::vector<std::string_view> known() const;

  /// Throws InputError where an array has changed. `read_in_blocks`: those of one value a point are checked when they
  /// are read.
  void check_unchanged(bool read_in_blocks, unsigned threads) const;

  /// Columns to be filled for `count` points: the quantities of these names, all if there is none, and "gamma" under
  /// `best`. Memory of the calling thread, for repeated calls.
  [[nodiscard]] Columns columns(const std::vector<std::string>& names, std::size_t count) const;

  /// Fills the columns for points [first, first + count); drops those that are NaN at every point. Throws DomainError
  /// for a point without an answer, with its index; InputError where the arrays have changed; Interrupted.
  void answer(Columns& columns, std::size_t first, std::size_t count, unsigned threads,
              const std::atomic<bool>* stop) const;

 private:
  struct Number {
    Varying varying;
    const scenario::Parameter* parameter;
    BroadcastValues values;
    std::vector<std::uint64_t> fingerprints = {};  ///< of blocks of its values

    void check_unchanged(std::size_t block) const;
  };
  struct Range {
    std::size_t first, count;
  };

  void check_values(std::span<const std::size_t> shape, unsigned threads);
  void check_gammas(std::span<const std::size_t> shape) const;
  void check_bounded() const;
  [[nodiscard]] const Varying* varying_of(std::string_view name) const;  ///< null: it does not vary
  [[nodiscard]] BroadcastValues values_of(std::string_view name, const double* otherwise) const;
  void answer_in_vectors(const Columns& columns, Range range, unsigned threads, const std::atomic<bool>* stop) const;
  void answer_one_by_one(std::span<const std::size_t> wanted, Columns& columns, Range range, unsigned threads,
                         const std::atomic<bool>* stop) const;
  void answer_plain(Range range, std::span<ClosedForm> answers) const;
  /// `gammas`: output of the best ones; null: none.
  void answer_any(Range range, inputs::Inputs& inputs, std::span<ClosedForm> answers, double* gammas) const;
  using Buffers = std::array<std::vector<double>, 3>;
  /// Under is_plain(), with the best gammas if requested.
  [[nodiscard]] analytic::IidPoints plain_points(Range range, Buffers& buffers) const;

  Scenario scenario_;
  bool names_files_;
  bool best_;
  bool plain_ = false;
  double alpha_ = 0.0, gamma_ = 0.0, c_ = 0.0;  ///< those of the scenario, under is_plain()
  std::vector<Number> numbers_;
  std::size_t size_ = 1;
  std::size_t row_ = std::numeric_limits<std::size_t>::max();  ///< points computed together start and end in one row
};

}  // namespace foredraft::python
