// SPDX-License-Identifier: Apache-2.0
#include "inputs/inputs.hpp"

#include <catch2/catch.hpp>

#include "tests/support/errors.hpp"

namespace foredraft::inputs {
namespace {

using Sequences = std::vector<std::vector<std::int8_t>>;

Sequences parse(std::string_view text, std::int64_t gamma = 0) {
  return parse_trace(text, "t", gamma, Convention::bonus).sequences;
}

}  // namespace

TEST_CASE("outcomes of each sequence are read from CSV and JSONL") {
  const Sequences wanted{{1, 0, 1}, {0, -1}};
  CHECK(parse("sequence,outcome\na,1\na,0\na,1\nb,0\nb,-1\n") == wanted);
  CHECK(parse("{\"outcomes\": [1, 0, 1]}\n\n# a remark\n{\"outcomes\": [0, -1]}") == wanted);
  CHECK(parse("sequence,outcome\r\na,1\r\na,0\r\na,1\r\nb,0\r\nb,-1\r\n") == wanted);
}

TEST_CASE("accepted counts become outcomes for the gamma of the recording") {
  // 2 of 3 accepted: 1 1 0. All 3 accepted: 1 1 1 and the bonus position, at which no draft was tested.
  const Sequences wanted{{1, 1, 0, 1, 1, 1, -1}, {0}};
  CHECK(parse("sequence,accepted\na,2\na,3\nb,0\n", 3) == wanted);
  CHECK(parse("{\"accepted\": [2, 3]}\n{\"accepted\": [0]}\n", 3) == wanted);
}

TEST_CASE("a damaged trace is rejected with the line of every mistake") {
  CHECK_THROWS_MATCHES(parse("sequence,outcome\na,2\na,x\nb,1\n"), InputError,
                       Says("t:2: invalid outcome=2\nt:3: damaged row"));
  CHECK_THROWS_MATCHES(parse("sequence,accepted\na,4\n", 3), InputError, Says("t:2: invalid accepted=4"));
  CHECK_THROWS_MATCHES(parse("sequence,accepted\na,1\na,1\n"), InputError,
                       Says("t:2: accepted counts without process.recorded_gamma"));
  CHECK_THROWS_MATCHES(parse(""), InputError, Says("t:1: holds no outcome"));
  CHECK_THROWS_AS(parse("{\"outcomes\": [1, 0"), InputError);
  CHECK_THROWS_AS(parse("{\"outcomes\": 5}"), InputError);
  CHECK_THROWS_AS(parse("a;b\n1;2\n"), InputError);
  CHECK_THROWS_MATCHES(parse("{\"outcomes\": null}\n{\"outcomes\": {}}\n{\"outcomes\": [1]}\n"), InputError,
                       Says("t:1: wrong type\nt:2: wrong type"));
  CHECK_THROWS_MATCHES(parse("{\"outcomes\": [2]}\n{\"outcomes\": [1\n{\"outcomes\": 5}\n"), InputError,
                       Says("t:1: invalid outcome=2\nt:2: syntax: invalid JSON at column 16\nt:3: wrong type"));
  CHECK_THROWS_WITH(parse("sequence,outcome\na,1\n{\"outcomes\": [0]}\n"), Catch::StartsWith("t:3: damaged row"));
}

TEST_CASE(
    "a number beyond 64 bits is reported as it was written, a line that is too deep or too long with its number") {
  CHECK_THROWS_MATCHES(parse("{\"outcomes\": [1]}\n{\"outcomes\": [18446744073709551615]}"), InputError,
                       Says("t:2: invalid outcome=18446744073709551615"));
  CHECK_THROWS_MATCHES(parse("{\"accepted\": [9223372036854775808]}", 3), InputError,
                       Says("t:1: invalid accepted=9223372036854775808"));
  CHECK_THROWS_WITH(parse("{\"outcomes\": [1]}\n{\"a\":" + std::string(65, '[')),
                    Catch::StartsWith("t:2: nested deeper than 64 levels"));
  CHECK_THROWS_WITH(parse("sequence,outcome\n" + std::string(1'048'577, '1')), Catch::StartsWith("t:2: a line of"));
}

TEST_CASE("a trace with many mistakes reports the first twenty and the number of the others") {
  std::string text = "sequence,outcome\n";
  for (int i = 0; i < 25; ++i) text += "a,7\n";
  CHECK_THROWS_WITH(parse(text), Catch::Contains("t:21: invalid outcome=7") && !Catch::Contains("t:22:") &&
                                     Catch::EndsWith("\nt:26: and 5 more up to here"));
}

}  // namespace foredraft::inputs
