// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parts of C++20 that the sources use and that the C++ library of Emscripten in Debian 12 (libc++ 13) lacks: the
// algorithms of std::ranges, <=> for strings and optional values, and from_chars and to_chars for double. Only
// scripts/page.sh includes it, before every source. Delete it with the first Emscripten whose library has them.

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace std {

template <class C, class T, class A>
strong_ordering operator<=>(const basic_string<C, T, A>& a, const basic_string<C, T, A>& b) {
  return a.compare(b) <=> 0;
}
template <class T>
auto operator<=>(const optional<T>& a, const optional<T>& b) -> decltype(*a <=> *b) {
  return a && b ? *a <=> *b : a.has_value() <=> b.has_value();
}

/// The shortest digits that read back as `value`, with an exponent only if that is shorter.
inline to_chars_result to_chars(char* first, char* last, double value) {
  string text = fmt::format("{}", value);
  if (isfinite(value) && value != 0.0) {
    const string sign = text[0] == '-' ? "-" : "";
    const size_t end = min(text.find('e'), text.size());
    string digits;
    for (const char c : text.substr(0, end)) digits.append(c >= '0' && c <= '9' ? 1 : 0, c);
    digits.erase(0, digits.find_first_not_of('0'));
    digits.erase(digits.find_last_not_of('0') + 1);
    const int exponent = stoi(fmt::format("{:.{}e}", value, digits.size() - 1)
                                  .substr(sign.size() + digits.size() + (digits.size() > 1 ? 2 : 1)));
    const int count = static_cast<int>(digits.size());
    const string scientific =
        fmt::format("{}{}{}{}e{:+03}", sign, digits[0], count > 1 ? "." : "", digits.substr(1), exponent);
    const int fixed = exponent < 0 ? 1 - exponent + count : exponent + 1 < count ? count + 1 : exponent + 1;
    if (static_cast<int>(scientific.size() - sign.size()) < fixed) {
      text = scientific;
    } else if (exponent < 0) {
      text = fmt::format("{}0.{}{}", sign, string(static_cast<size_t>(-exponent - 1), '0'), digits);
    } else if (exponent + 1 < count) {
      text = sign + digits.insert(static_cast<size_t>(exponent) + 1, ".");
    } else {
      text = fmt::format("{:.0f}", value);
    }
  }
  if (text.size() > static_cast<size_t>(last - first)) return {last, errc::value_too_large};
  return {copy(text.begin(), text.end(), first), errc{}};
}

inline from_chars_result from_chars(const char* first, const char* last, double& value,
                                    chars_format format = chars_format::general) {
  // strtod also accepts spaces, + and hexadecimal digits, and an exponent if only fixed notation is allowed.
  const char* digits = first != last && *first == '-' ? first + 1 : first;
  if (digits == last || !((*digits >= '0' && *digits <= '9') || *digits == '.' || *digits == 'i' || *digits == 'n' ||
                          *digits == 'I' || *digits == 'N')) {
    return {first, errc::invalid_argument};
  }
  string text(first, last);
  if (const size_t hex = text.find_first_of("xX"); hex != string::npos) text.resize(hex);
  if (format == chars_format::fixed) {
    if (const size_t exponent = text.find_first_of("eE"); exponent != string::npos) text.resize(exponent);
  }
  char* end = nullptr;
  const double read = strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  const char* stop = first + (end - text.c_str());
  if (isinf(read) && *digits != 'i' && *digits != 'I') return {stop, errc::result_out_of_range};
  value = read;
  return {stop, errc{}};
}

namespace ranges {

/// A pair of results, as min_max_result and in_out_result of the standard.
template <class T>
struct min_max_result {
  T min, max;
};
template <class I, class O>
struct in_out_result {
  I in;
  O out;
};

namespace foredraft_detail {

/// A comparison of projected values.
template <class C, class P>
auto projected(C& comp, P& proj) {
  return [&](auto&& a, auto&& b) -> bool {
    return invoke(comp, invoke(proj, forward<decltype(a)>(a)), invoke(proj, forward<decltype(b)>(b)));
  };
}

}  // namespace foredraft_detail

template <class R, class F, class P = identity>
bool any_of(R&& r, F f, P p = {}) {
  for (auto&& x : r) {
    if (invoke(f, invoke(p, x))) return true;
  }
  return false;
}
template <class R, class F, class P = identity>
bool none_of(R&& r, F f, P p = {}) {
  return !ranges::any_of(r, f, p);
}
template <class R, class F, class P = identity>
bool all_of(R&& r, F f, P p = {}) {
  return !ranges::any_of(r, [&](auto&& x) { return !invoke(f, invoke(p, x)); });
}
template <class I, class F, class P = identity>
  requires input_or_output_iterator<I>
I find_if(I first, I last, F f, P p = {}) {
  while (first != last && !invoke(f, invoke(p, *first))) ++first;
  return first;
}
template <class R, class F, class P = identity>
auto find_if(R&& r, F f, P p = {}) {
  return ranges::find_if(std::begin(r), std::end(r), f, p);
}
template <class R, class T, class P = identity>
auto find(R&& r, const T& value, P p = {}) {
  return ranges::find_if(
      std::begin(r), std::end(r), [&](auto&& x) { return x == value; }, p);
}
template <class I, class T, class P = identity>
  requires input_or_output_iterator<I>
I find(I first, I last, const T& value, P p = {}) {
  return ranges::find_if(
      first, last, [&](auto&& x) { return x == value; }, p);
}
template <class R, class F, class P = identity>
auto count_if(R&& r, F f, P p = {}) {
  return std::count_if(std::begin(r), std::end(r), [&](auto&& x) { return invoke(f, invoke(p, x)); });
}
template <class R, class T, class P = identity>
auto count(R&& r, const T& value, P p = {}) {
  return ranges::count_if(
      r, [&](auto&& x) { return x == value; }, p);
}
template <class R, class F, class P = identity>
void for_each(R&& r, F f, P p = {}) {
  for (auto&& x : r) invoke(f, invoke(p, x));
}
template <class I, class C = less, class P = identity>
  requires input_or_output_iterator<I>
void sort(I first, I last, C c = {}, P p = {}) {
  std::sort(first, last, foredraft_detail::projected(c, p));
}
template <class R, class C = less, class P = identity>
void sort(R&& r, C c = {}, P p = {}) {
  std::sort(std::begin(r), std::end(r), foredraft_detail::projected(c, p));
}
template <class R, class C = less, class P = identity>
void stable_sort(R&& r, C c = {}, P p = {}) {
  std::stable_sort(std::begin(r), std::end(r), foredraft_detail::projected(c, p));
}
template <class R, class C = less, class P = identity>
void nth_element(R&& r, iterator_t<R> at, C c = {}, P p = {}) {
  std::nth_element(std::begin(r), at, std::end(r), foredraft_detail::projected(c, p));
}
template <class R, class C = less, class P = identity>
bool is_sorted(R&& r, C c = {}, P p = {}) {
  return std::is_sorted(std::begin(r), std::end(r), foredraft_detail::projected(c, p));
}
template <class R, class T, class U>
void replace(R&& r, const T& from, const U& to) {
  for (auto&& x : r) {
    if (x == from) x = to;
  }
}
template <class R, class F, class T>
void replace_if(R&& r, F f, const T& to) {
  for (auto&& x : r) {
    if (invoke(f, x)) x = to;
  }
}
template <class R, class T>
void fill(R&& r, const T& value) {
  std::fill(std::begin(r), std::end(r), value);
}
template <class R, class O, class F, class P = identity>
auto transform(R&& r, O out, F f, P p = {}) {
  auto at = std::begin(r);
  for (; at != std::end(r); ++at, ++out) *out = invoke(f, invoke(p, *at));
  return in_out_result<decltype(at), O>{at, out};
}
template <class R, class O>
constexpr auto copy(R&& r, O out) {
  O end = std::copy(std::begin(r), std::end(r), out);
  return in_out_result<decltype(std::begin(r)), O>{std::end(r), end};
}
template <class R, class O>
auto move(R&& r, O out) {
  O end = std::move(std::begin(r), std::end(r), out);
  return in_out_result<decltype(std::begin(r)), O>{std::end(r), end};
}
template <class R, class O, class F, class P = identity>
auto copy_if(R&& r, O out, F f, P p = {}) {
  O end = std::copy_if(std::begin(r), std::end(r), out, [&](auto&& x) { return invoke(f, invoke(p, x)); });
  return in_out_result<decltype(std::begin(r)), O>{std::end(r), end};
}
template <class R, class C = less, class P = identity>
auto max_element(R&& r, C c = {}, P p = {}) {
  return std::max_element(std::begin(r), std::end(r), foredraft_detail::projected(c, p));
}
template <class R, class C = less, class P = identity>
auto min_element(R&& r, C c = {}, P p = {}) {
  return std::min_element(std::begin(r), std::end(r), foredraft_detail::projected(c, p));
}
template <class R, class C = less, class P = identity>
auto minmax_element(R&& r, C c = {}, P p = {}) {
  const auto found = std::minmax_element(std::begin(r), std::end(r), foredraft_detail::projected(c, p));
  return min_max_result<decltype(std::begin(r))>{found.first, found.second};
}
template <class R, class C = less, class P = identity>
auto max(R&& r, C c = {}, P p = {}) {
  return *ranges::max_element(r, c, p);
}
template <class R, class C = less, class P = identity>
auto min(R&& r, C c = {}, P p = {}) {
  return *ranges::min_element(r, c, p);
}
template <class R, class T, class C = less, class P = identity>
auto lower_bound(R&& r, const T& value, C c = {}, P p = {}) {
  return std::lower_bound(std::begin(r), std::end(r), value,
                          [&](auto&& x, auto&& v) { return invoke(c, invoke(p, x), v); });
}
template <class R, class T, class C = less, class P = identity>
auto upper_bound(R&& r, const T& value, C c = {}, P p = {}) {
  return std::upper_bound(std::begin(r), std::end(r), value,
                          [&](auto&& v, auto&& x) { return invoke(c, v, invoke(p, x)); });
}
template <class R, class T, class C = less, class P = identity>
auto equal_range(R&& r, const T& value, C c = {}, P p = {}) {
  return subrange{ranges::lower_bound(r, value, c, p), ranges::upper_bound(r, value, c, p)};
}
template <class R, class T, class C = less, class P = identity>
bool binary_search(R&& r, const T& value, C c = {}, P p = {}) {
  const auto at = ranges::lower_bound(r, value, c, p);
  return at != std::end(r) && !invoke(c, value, invoke(p, *at));
}
template <class R, class C = equal_to, class P = identity>
auto unique(R&& r, C c = {}, P p = {}) {
  return subrange{std::unique(std::begin(r), std::end(r), foredraft_detail::projected(c, p)), std::end(r)};
}
template <class R, class C = equal_to, class P = identity>
auto adjacent_find(R&& r, C c = {}, P p = {}) {
  return std::adjacent_find(std::begin(r), std::end(r), foredraft_detail::projected(c, p));
}
template <class R, class S, class C = equal_to>
bool equal(R&& r, S&& s, C c = {}) {
  return std::equal(std::begin(r), std::end(r), std::begin(s), std::end(s), c);
}
template <class R, class S, class O>
void set_intersection(R&& r, S&& s, O out) {
  std::set_intersection(std::begin(r), std::end(r), std::begin(s), std::end(s), out);
}

}  // namespace ranges
}  // namespace std
