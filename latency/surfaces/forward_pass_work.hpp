// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "latency/operations/program.hpp"
#include "latency/profile/cell.hpp"

namespace foredraft::latency {

/// The kinds of operations that the latency model distinguishes.
enum class WorkKind { project, attend, other };

/// Equal operations of a pass.
struct OperationWork {
  WorkKind kind = WorkKind::other;
  double inputs = 0.0;  ///< of a product; 0 for the others
  double count = 1.0;
  double bytes = 0.0;  ///< read and written, of one
  double flop = 0.0;   ///< of one
};

/// A point of the surface: sequences, new tokens of each (of drafting: gamma), context length.
struct ForwardPassPoint {
  std::int64_t batch = 1;
  std::int64_t tokens = 1;
  std::int64_t context = 0;
};

/// The operations of one kind of pass for any batch, tokens and context, counted once. The bytes and flop of each are a
/// polynomial of the three (linear in batch and context, quadratic in tokens), equal to work_of its program.
class ForwardPassWork {
 public:
  /// Throws DomainError for an impossible shape, and for a role that the shape does not have.
  ForwardPassWork(const ModelShape& shape, Role role, DataType type, std::int64_t source_length);

  /// Calls visit(OperationWork) for the operations at `point`, equal ones together. Throws DomainError for fewer than 1
  /// token or sequence, for a context below 0 and for positions that the shape does not have.
  template <typename Visit>
  void visit(const ForwardPassPoint& point, Visit&& visit) const {
    check(point);
    if (role_ == Role::autoregressive_drafting) {
      for (std::int64_t draft = 0; draft < point.tokens; ++draft) {
        visit_terms({point.batch, 1, point.context + draft}, 1.0, visit);
      }
    } else if (role_ == Role::head_drafting) {
      visit_terms({point.batch, 1, 0}, static_cast<double>(point.tokens), visit);
    } else {
      visit_terms(point, 1.0, visit);
    }
  }

  /// Rows of its matrix products: batch times tokens; batch if tokens are drafted autoregressively or by heads.
  [[nodiscard]] double rows(const ForwardPassPoint& point) const;

  /// Smallest and largest bytes of a matrix product over one row.
  [[nodiscard]] double min_product_bytes() const { return min_product_bytes_; }
  [[nodiscard]] double max_product_bytes() const { return max_product_bytes_; }

 private:
  static constexpr std::size_t terms_of_batch = 2, terms_of_tokens = 3, terms_of_context = 2;
  static constexpr std::size_t basis_size = terms_of_batch * terms_of_tokens * terms_of_context;
  using Coefficients = std::array<double, basis_size>;

  /// Newton's forward differences from batch 1, tokens 1, context 0: integers stay integers.
  struct Term {
    WorkKind kind;
    double inputs;
    double count;
    Coefficients bytes, flop;
    bool same(const Term& other) const {
      return kind == other.kind && inputs == other.inputs && bytes == other.bytes && flop == other.flop;
    }
  };

  static Coefficients basis(const ForwardPassPoint& point) {
    const auto batch = static_cast<double>(point.batch - 1);
    const auto tokens = static_cast<double>(point.tokens - 1);
    const auto context = static_cast<double>(point.context);
    const std::array<double, terms_of_tokens> of_tokens{1.0, tokens, 0.5 * tokens * (tokens - 1.0)};
    Coefficients values{};
    for (std::size_t i = 0; i < terms_of_tokens; ++i) {
      values[4 * i] = of_tokens[i];
      values[4 * i + 1] = of_tokens[i] * batch;
      values[4 * i + 2] = of_tokens[i] * context;
      values[4 * i + 3] = of_tokens[i] * batch * context;
    }
    return values;
  }

  template <typename Visit>
  void visit_terms(const ForwardPassPoint& point, double times, Visit& visit) const {
    const Coefficients values = basis(point);
    for (const Term& term : terms_) {
      OperationWork work{.kind = term.kind, .inputs = term.inputs, .count = times * term.count, .bytes = 0, .flop = 0};
      for (std::size_t i = 0; i < basis_size; ++i) {
        work.bytes += term.bytes[i] * values[i];
        work.flop += term.flop[i] * values[i];
      }
      visit(work);
    }
  }

  void check(const ForwardPassPoint& point) const;

  Role role_;
  std::int64_t positions_ = 0;  ///< of a learned table; 0: unlimited
  std::vector<Term> terms_;
  double min_product_bytes_ = 0.0, max_product_bytes_ = 0.0;
};

/// The pass that a cell names, of a model of this shape. Throws DomainError as operations/forward_passes.hpp does.
[[nodiscard]] Program program_of(const ModelShape& shape, const Cell& cell);

/// "fp16", "bf16", "fp32"; throws DomainError for other words.
[[nodiscard]] DataType data_type_of(std::string_view name);

}  // namespace foredraft::latency
