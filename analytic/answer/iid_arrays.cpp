// SPDX-License-Identifier: Apache-2.0
#include "analytic/answer/iid_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "analytic/draft_length/best_gamma.hpp"
#include "analytic/tokens/token_count.hpp"

#ifndef FOREDRAFT_ANALYTIC_IID_ARRAYS_ONCE
#define FOREDRAFT_ANALYTIC_IID_ARRAYS_ONCE
namespace foredraft::analytic {

/// A block of points. A step is 1 for one value per point and 0 for one value for all points.
struct IidTask {
  const double* alpha;
  const double* gamma;
  const double* c;  ///< null: tokens instead of speedups
  std::size_t alpha_step, gamma_step, c_step;
  double bonus;  ///< 1 with a bonus token, else 0
  std::size_t count;
  double* answers;
  bool* left;  ///< set to true if some answers are left_to_scalar
};

/// A block of values and their range, which lies in [-2^50, 2^50] if they must be whole.
struct ValuesTask {
  const double* values;
  std::size_t count;
  double minimum, maximum;
  bool whole;
  Judged* answer;
};

constexpr double left_to_scalar = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace foredraft::analytic
#endif

// Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once for each instruction set. It must
// not contain inline functions of a library: the linker would keep one copy, compiled for any of the sets. To give the
// same bits everywhere it uses only correctly rounded operations and no fused multiply-add. Targets with vectors of
// unknown length are disabled, because structures cannot contain such vectors.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "analytic/answer/iid_arrays.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace foredraft::analytic::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Real = hn::ScalableTag<double>;
using Bits = hn::ScalableTag<std::uint64_t>;
using RealVec = hn::Vec<Real>;
using BitsVec = hn::Vec<Bits>;
using Lanes = hn::Mask<Real>;

HWY_INLINE RealVec set(double value) { return hn::Set(Real(), value); }

HWY_INLINE RealVec load(const double* values, std::size_t step, std::size_t i) {
  return step == 0 ? set(*values) : hn::LoadU(Real(), values + i);
}

/// Sum of coefficients[i] x^i by Horner's scheme.
template <std::size_t size>
HWY_INLINE RealVec polynomial(const double (&coefficients)[size], RealVec x) {
  RealVec sum = set(coefficients[size - 1]);
  for (std::size_t i = size - 1; i-- > 0;) sum = hn::Add(set(coefficients[i]), hn::Mul(x, sum));
  return sum;
}

/// An unevaluated sum of two numbers, the larger one first.
struct TwoParts {
  RealVec high, low;
};

constexpr double ln2_high = 6.93147180369123816490e-01;  // 33 bits
constexpr double ln2_low = 1.90821492927058770002e-10;

/// -log(x) for x in [2^-60, 1]. `high` has 26 bits, so that its product with a number of 27 bits is exact. Close to 1
/// the relative error is below 2^-55. The polynomial is that of FreeBSD's e_log.c.
HWY_INLINE TwoParts negative_log(RealVec x) {
  constexpr double coefficients[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                     2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                     1.479819860511658591e-01};
  // x = m 2^-e with m in [sqrt(1/2), sqrt(2)).
  constexpr std::uint64_t one = 0x3FF0000000000000U;
  constexpr std::uint64_t root_half = 0x3FE6A09E667F3BCDU;
  const BitsVec shifted = hn::Add(hn::BitCast(Bits(), x), hn::Set(Bits(), one - root_half));
  const BitsVec mantissa = hn::And(shifted, hn::Set(Bits(), 0x000FFFFFFFFFFFFFU));
  const RealVec f = hn::Sub(hn::BitCast(Real(), hn::Add(mantissa, hn::Set(Bits(), root_half))), set(1.0));
  const BitsVec exponent = hn::Or(hn::ShiftRight<52>(shifted), hn::Set(Bits(), 0x4330000000000000U));  // plus 2^52
  const RealVec e = hn::Sub(set(0x1p52 + 1023.0), hn::BitCast(Real(), exponent));
  // log(1 + f) = f - f^2/2 + s (f^2/2 + z P(z)), s = f / (2 + f), z = s^2.
  const RealVec s = hn::Div(f, hn::Add(set(2.0), f));
  const RealVec z = hn::Mul(s, s);
  const RealVec half_square = hn::Mul(set(0.5), hn::Mul(f, f));
  const RealVec rest = hn::Mul(s, hn::Add(half_square, hn::Mul(z, polynomial(coefficients, z))));
  const BitsVec leading = hn::Set(Bits(), ~std::uint64_t{0x7FFFFFF});
  const auto truncated = [leading](RealVec value)
                             HWY_ATTR { return hn::BitCast(Real(), hn::And(hn::BitCast(Bits(), value), leading)); };
  const RealVec log_high = truncated(hn::Sub(f, half_square));
  const RealVec log_low = hn::Add(hn::Sub(hn::Sub(f, log_high), half_square), rest);
  const RealVec sum = hn::Sub(hn::Mul(e, set(ln2_high)), log_high);
  const RealVec high = truncated(sum);
  return {high, hn::Add(hn::Sub(sum, high), hn::Sub(hn::Mul(e, set(ln2_low)), log_low))};
}

/// 1 - exp(-x) for x = high + low >= 0; its error is a quarter of the last place of `high`.
HWY_INLINE TwoParts one_minus_exp(TwoParts x) {
  constexpr double coefficients[] = {1.0 / 2.0,          -1.0 / 6.0,        1.0 / 24.0,        -1.0 / 120.0,
                                     1.0 / 720.0,        -1.0 / 5040.0,     1.0 / 40320.0,     -1.0 / 362880.0,
                                     1.0 / 3628800.0,    -1.0 / 39916800.0, 1.0 / 479001600.0, -1.0 / 6227020800.0,
                                     1.0 / 87178291200.0};
  constexpr double inverse_ln2 = 1.44269504088896338700;
  constexpr double to_integer = 0x1.8p52;  // adding it leaves the nearest whole number in the low bits
  // x = k ln 2 + r with |r| <= ln(2) / 2; the difference of the high parts is exact.
  const RealVec with_k = hn::Add(hn::Mul(x.high, set(inverse_ln2)), set(to_integer));
  const RealVec k = hn::Sub(with_k, set(to_integer));
  const RealVec r_high = hn::Sub(x.high, hn::Mul(k, set(ln2_high)));
  const RealVec r_low = hn::Sub(x.low, hn::Mul(k, set(ln2_low)));
  const RealVec r = hn::Add(r_high, r_low);
  const RealVec error = hn::Sub(r_low, hn::Sub(r, r_high));
  // 1 - exp(-r) = r - r^2 P(r).
  const RealVec curved = hn::Sub(hn::Mul(hn::Mul(r, r), polynomial(coefficients, r)),  //
                                 hn::Mul(error, hn::Sub(set(1.0), r)));
  const RealVec reduced = hn::Sub(r, curved);
  const RealVec reduced_low = hn::Sub(hn::Sub(r, reduced), curved);
  // 1 - 2^-k exp(-r) = (1 - 2^-k) + 2^-k (1 - exp(-r)).
  const BitsVec scale_bits = hn::ShiftLeft<52>(hn::Sub(hn::Set(Bits(), 1023U), hn::BitCast(Bits(), with_k)));
  const RealVec scale = hn::BitCast(Real(), scale_bits);
  const RealVec whole = hn::Sub(set(1.0), scale);
  const RealVec part = hn::Mul(scale, reduced);
  const RealVec high = hn::Add(whole, part);
  return {high, hn::Add(hn::Sub(part, hn::Sub(high, whole)), hn::Mul(scale, reduced_low))};
}

constexpr double horner_tokens = 16.0;     // as in stable::geometric_sum
constexpr double largest_tokens = 0x1p27;  // so that the product with 26 bits is exact

/// sum_{j<n} alpha^j for n above horner_tokens; NaN above largest_tokens.
HWY_INLINE RealVec long_sum(RealVec alpha, RealVec n) {
  const TwoParts log = negative_log(hn::Max(alpha, set(0x1p-60)));
  constexpr double saturated = 45.0;  // exp(-45) < 2^-64
  const RealVec x = hn::Mul(n, log.high);
  const RealVec low = hn::IfThenElseZero(hn::Lt(x, set(saturated)), hn::Mul(n, log.low));
  const TwoParts share = one_minus_exp({hn::Min(x, set(saturated)), low});
  const RealVec complement = hn::Sub(set(1.0), alpha);
  const RealVec sum = hn::Add(hn::Div(share.high, complement), hn::Div(share.low, complement));
  const RealVec clamped = hn::Min(hn::Max(sum, set(1.0)), n);
  const RealVec all = hn::IfThenElse(hn::Eq(alpha, set(1.0)), n, clamped);
  return hn::IfThenElse(hn::Gt(n, set(largest_tokens)), set(left_to_scalar), all);
}

/// Properties of all points of a task.
struct Tokens {
  double most;        ///< maximum n
  bool short_ones;    ///< some n is at most horner_tokens
  std::size_t steps;  ///< of Horner's scheme
};

HWY_INLINE Tokens tokens_of(const IidTask& task) {
  double least = *task.gamma;
  double most = *task.gamma;
  const std::size_t count = task.gamma_step == 0 ? 0 : task.count;
  const std::size_t lanes = hn::Lanes(Real());
  std::size_t i = 0;
  if (count >= lanes) {
    RealVec leasts = hn::LoadU(Real(), task.gamma);
    RealVec mosts = leasts;
    for (; i + lanes <= count; i += lanes) {
      const RealVec gamma = hn::LoadU(Real(), task.gamma + i);
      leasts = hn::Min(leasts, gamma);
      mosts = hn::Max(mosts, gamma);
    }
    least = hn::GetLane(hn::MinOfLanes(Real(), leasts));
    most = hn::GetLane(hn::MaxOfLanes(Real(), mosts));
  }
  for (; i < count; ++i) {
    least = task.gamma[i] < least ? task.gamma[i] : least;
    most = task.gamma[i] > most ? task.gamma[i] : most;
  }
  least += task.bonus;
  most += task.bonus;
  return {most, least <= horner_tokens, static_cast<std::size_t>(most < horner_tokens ? most : horner_tokens)};
}

/// sum_{j<n} alpha^j. `same`: all points of the task have the same n.
template <bool same>
HWY_INLINE RealVec token_sum(RealVec alpha, RealVec n, const Tokens& tokens) {
  RealVec sum = set(1.0);
  if (tokens.short_ones) {
    for (std::size_t j = 1; j < tokens.steps; ++j) {
      const RealVec next = hn::Add(set(1.0), hn::Mul(alpha, sum));
      sum = same ? next : hn::IfThenElse(hn::Lt(set(static_cast<double>(j)), n), next, sum);
    }
  }
  if (tokens.most <= horner_tokens) return sum;
  const Lanes is_long = hn::Gt(n, set(horner_tokens));
  if (!same && hn::AllFalse(Real(), is_long)) return sum;
  return hn::IfThenElse(is_long, long_sum(alpha, n), sum);
}

struct Arguments {
  RealVec alpha, gamma, c;
};

/// Calls answer(arguments) for each vector of points; the last vector may be partial.
template <class Answer>
HWY_INLINE void for_each_vector(const IidTask& task, const double* c, const Answer& answer) {
  const std::size_t lanes = hn::Lanes(Real());
  std::size_t i = 0;
  for (; i + lanes <= task.count; i += lanes) {
    const Arguments arguments{load(task.alpha, task.alpha_step, i), load(task.gamma, task.gamma_step, i),
                              load(c, task.c_step, i)};
    hn::StoreU(answer(arguments), Real(), task.answers + i);
  }
  if (i == task.count) return;
  HWY_ALIGN double rest[4][hn::MaxLanes(Real())];
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const std::size_t from = i + lane < task.count ? i + lane : i;
    rest[0][lane] = task.alpha[from * task.alpha_step];
    rest[1][lane] = task.gamma[from * task.gamma_step];
    rest[2][lane] = c[from * task.c_step];
  }
  hn::Store(answer({hn::Load(Real(), rest[0]), hn::Load(Real(), rest[1]), hn::Load(Real(), rest[2])}), Real(), rest[3]);
  for (std::size_t lane = 0; i + lane < task.count; ++lane) task.answers[i + lane] = rest[3][lane];
}

template <bool same>
void answer_gammas(const IidTask& task) {
  const Tokens tokens = tokens_of(task);
  *task.left = tokens.most > largest_tokens;
  const RealVec bonus = set(task.bonus);
  if (same && task.alpha_step == 0 && task.c != nullptr) {
    const RealVec sum = token_sum<same>(set(*task.alpha), hn::Add(set(*task.gamma), bonus), tokens);
    for_each_vector(task, task.c, [&](const Arguments& at) HWY_ATTR {
      return hn::Div(sum, hn::Add(set(1.0), hn::Mul(at.gamma, at.c)));
    });
    return;
  }
  if (task.c == nullptr) {
    for_each_vector(task, task.alpha, [&](const Arguments& at) HWY_ATTR {
      return token_sum<same>(at.alpha, hn::Add(at.gamma, bonus), tokens);
    });
    return;
  }
  for_each_vector(task, task.c, [&](const Arguments& at) HWY_ATTR {
    const RealVec sum = token_sum<same>(at.alpha, hn::Add(at.gamma, bonus), tokens);
    return hn::Div(sum, hn::Add(set(1.0), hn::Mul(at.gamma, at.c)));
  });
}

/// Tokens or speedups; NaN where n is above largest_tokens.
void answer_task(const IidTask& task) {
  if (task.gamma_step == 0) {
    answer_gammas<true>(task);
  } else {
    answer_gammas<false>(task);
  }
}

/// The marginal rule of best_gamma.cpp, draft by draft. NaN if rounding could decide or the best gamma is large.
HWY_INLINE RealVec best_of(RealVec alpha, RealVec c, double first_gamma, bool& left) {
  constexpr double relative_error = 1e-13;  // for some tens of steps with a few roundings each
  constexpr std::size_t steps_between_looks = 4;
  constexpr std::size_t max_steps = 64;
  const RealVec c_above = hn::Mul(c, set(1.0 + relative_error));
  const RealVec c_below = hn::Mul(c, set(1.0 - relative_error));
  RealVec tokens = set(1.0);
  RealVec survival = alpha;
  RealVec gamma = set(first_gamma);  // draft length of each lane
  Lanes drafts = hn::Eq(alpha, alpha);
  Lanes unsure = hn::Lt(alpha, alpha);
  for (std::size_t step = 0; step < max_steps && !hn::AllFalse(Real(), drafts); step += steps_between_looks) {
    for (std::size_t i = 0; i < steps_between_looks; ++i) {
      const RealVec cost = hn::Add(set(1.0), hn::Mul(set(first_gamma + static_cast<double>(step + i)), c));
      const RealVec gain = hn::Mul(survival, cost);
      const Lanes pays = hn::Gt(gain, hn::Mul(c_above, tokens));
      const Lanes may_pay = hn::Gt(gain, hn::Mul(c_below, tokens));
      unsure = hn::Or(unsure, hn::And(drafts, hn::AndNot(pays, may_pay)));
      drafts = hn::And(drafts, pays);
      gamma = hn::Add(gamma, hn::IfThenElseZero(drafts, set(1.0)));
      tokens = hn::Add(tokens, survival);
      survival = hn::Mul(survival, alpha);
    }
  }
  // Outside these limits, products could overflow.
  const Lanes extreme = hn::Or(hn::Le(c, set(1e-290)), hn::Ge(c, set(1e290)));
  const Lanes unbounded = hn::And(hn::Or(hn::Eq(alpha, set(1.0)), hn::Eq(c, set(0.0))),
                                  first_gamma == 0.0 ? hn::Lt(c, alpha) : hn::Gt(alpha, set(0.0)));
  const Lanes not_known = hn::Or(hn::Or(unsure, drafts), extreme);
  left = left || !hn::AllFalse(Real(), not_known);
  gamma = hn::IfThenElse(not_known, set(left_to_scalar), gamma);
  return hn::IfThenElse(unbounded, set(infinite), gamma);
}

void best_task(const IidTask& task) {
  const double first_gamma = 1.0 - task.bonus;
  bool left = false;
  for_each_vector(task, task.c,
                  [&](const Arguments& at) HWY_ATTR { return best_of(at.alpha, at.c, first_gamma, left); });
  *task.left = left;
}

/// The nearest whole number; |value| <= 2^51.
HWY_INLINE RealVec nearest_whole(RealVec value) { return hn::Sub(hn::Add(value, set(0x1.8p52)), set(0x1.8p52)); }

void judge(const ValuesTask& task) {
  const std::size_t lanes = hn::Lanes(Real());
  Lanes inside = hn::Eq(set(0.0), set(0.0));
  BitsVec sum = hn::Zero(Bits());
  BitsVec sum_of_sums = hn::Zero(Bits());
  std::size_t i = 0;
  for (; i + lanes <= task.count; i += lanes) {
    const RealVec value = hn::LoadU(Real(), task.values + i);
    inside = hn::And(inside, hn::And(hn::Ge(value, set(task.minimum)), hn::Le(value, set(task.maximum))));
    if (task.whole) inside = hn::And(inside, hn::Eq(nearest_whole(value), value));
    const BitsVec bits = hn::BitCast(Bits(), value);
    sum = hn::Add(sum, hn::Xor(bits, hn::ShiftRight<31>(bits)));  // the lower bits of round numbers are 0
    sum_of_sums = hn::Add(sum_of_sums, sum);
  }
  task.answer->inside = hn::AllTrue(Real(), inside);
  HWY_ALIGN std::uint64_t sums[2][hn::MaxLanes(Bits())];
  hn::Store(sum, Bits(), sums[0]);
  hn::Store(sum_of_sums, Bits(), sums[1]);
  std::uint64_t print = 0;
  const auto add = [&print](std::uint64_t bits) {
    print = (print ^ bits) * 0x9E3779B97F4A7C15U;
    print ^= print >> 32U;
  };
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    add(sums[0][lane]);
    add(sums[1][lane]);
  }
  for (; i < task.count; ++i) {
    const double value = task.values[i];
    bool one = value >= task.minimum && value <= task.maximum;
    if (task.whole) one = one && (value + 0x1.8p52) - 0x1.8p52 == value;
    task.answer->inside = task.answer->inside && one;
    std::uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    add(bits);
  }
  task.answer->fingerprint = print;
}

}  // namespace
}  // namespace foredraft::analytic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace foredraft::analytic {
namespace {

HWY_EXPORT(answer_task);
HWY_EXPORT(best_task);
HWY_EXPORT(judge);

constexpr std::size_t task_points = 1024;

std::size_t step_of(std::span<const double> values) { return values.size() > 1 ? 1 : 0; }

/// Answers all points with `kernel`, in blocks, and the points it leaves with `alone(i)`.
template <class Kernel, class Alone>
void answer_tasks(const IidPoints& points, std::span<const double> gamma, std::span<const double> c,
                  std::span<double> answers, const Kernel& kernel, const Alone& alone) {
  for (std::size_t first = 0; first < answers.size(); first += task_points) {
    const std::size_t count = std::min(task_points, answers.size() - first);
    const auto from = [first](std::span<const double> values) { return values.data() + first * step_of(values); };
    bool left = false;
    kernel(IidTask{.alpha = from(points.alpha),
                   .gamma = from(gamma),
                   .c = c.empty() ? nullptr : from(c),
                   .alpha_step = step_of(points.alpha),
                   .gamma_step = step_of(gamma),
                   .c_step = step_of(c),
                   .bonus = points.convention == Convention::bonus ? 1.0 : 0.0,
                   .count = count,
                   .answers = answers.data() + first,
                   .left = &left});
    if (!left) continue;
    for (std::size_t i = first; i < first + count; ++i) {
      if (std::isnan(answers[i])) answers[i] = alone(i);
    }
  }
}

double at(std::span<const double> values, std::size_t i) { return values[i * step_of(values)]; }

void answer_gammas(const IidPoints& points, std::span<const double> c, std::span<double> answers) {
  const auto kernel = [](const IidTask& task) { HWY_DYNAMIC_DISPATCH(answer_task)(task); };
  answer_tasks(points, points.gamma, c, answers, kernel, [&](std::size_t i) {
    const double gamma = at(points.gamma, i);
    const double tokens =
        tokens_per_iteration({at(points.alpha, i), static_cast<std::int64_t>(gamma), points.convention});
    return c.empty() ? tokens : tokens / (1.0 + gamma * at(c, i));
  });
}

}  // namespace

void tokens_per_iteration(const IidPoints& points, std::span<double> tokens) { answer_gammas(points, {}, tokens); }

void speedups(const IidPoints& points, std::span<double> speedups) { answer_gammas(points, points.c, speedups); }

void best_gammas(const IidPoints& points, std::span<double> gammas) {
  const auto kernel = [](const IidTask& task) { HWY_DYNAMIC_DISPATCH(best_task)(task); };
  // Gamma is not used, so any array can be passed.
  answer_tasks(points, points.alpha, points.c, gammas, kernel, [&](std::size_t i) {
    const BestGamma best =
        best_gamma(IidSetting{at(points.alpha, i), at(points.c, i), points.convention, Drafting::autoregressive});
    return best.gamma ? static_cast<double>(*best.gamma) : infinite;
  });
}

Judged judged(std::span<const double> values, double minimum, double maximum, bool whole) {
  if (whole) {
    constexpr double largest = 0x1p50;
    minimum = std::max(minimum, -largest);
    maximum = std::min(maximum, largest);
  }
  Judged answer{};
  const ValuesTask task{values.data(), values.size(), minimum, maximum, whole, &answer};
  HWY_DYNAMIC_DISPATCH(judge)(task);
  return answer;
}

}  // namespace foredraft::analytic
#endif  // HWY_ONCE
