// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "latency/operations/forward_passes.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"
#include "tests/support/errors.hpp"

namespace foredraft::latency {
namespace {

/// in (6 x 8) projected to out (6 x 4).
Program sound_program() {
  return {{{"in", BufferKind::cache, 48, 1.0, 0},
           {"weight", BufferKind::weight, 32, 1.0, 0},
           {"out", BufferKind::activation, 24, 0.0, 0},
           {"ids", BufferKind::tokens, 6, 0.0, 4}},
          {Project{0, 1, no_buffer, 2, 6, 4, 8, false}, PickToken{2, 3, 6, 4}},
          3};
}

Project& first_project(Program& program) { return std::get<Project>(program.operations.front()); }

/// The first operation of this kind in a pass of the tiny decoder, which tests then make invalid.
template <typename Kind>
Kind& first_of(Program& program) {
  for (Operation& operation : program.operations) {
    if (auto* found = std::get_if<Kind>(&operation)) return *found;
  }
  throw std::logic_error("no such operation");
}

Program tiny_pass() { return decoder_pass(tests::tiny_decoder(), {.tokens = 3, .batch = 2, .context = 4}); }

}  // namespace

TEST_CASE("a valid program passes its check") {
  CHECK_NOTHROW(check_program(sound_program()));
  CHECK_NOTHROW(check_program(tiny_pass()));
}

TEST_CASE("a program that reaches outside a buffer is rejected") {
  Program program = sound_program();
  SECTION("by one column") {
    first_project(program).outputs = 5;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("element 40 of \"weight\""));
  }
  SECTION("into a buffer that is not there") {
    first_project(program).in = 4;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("buffer 4 of 4"));
  }
  SECTION("an empty buffer") {
    program.buffers[0].elements = 0;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("buffer \"in\""));
  }
}

TEST_CASE("an activation that is read before it is written is rejected") {
  Program program = sound_program();
  SECTION("out of order") {
    std::swap(program.operations[0], program.operations[1]);
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("pick_token reads \"out\""));
  }
  SECTION("added to") {
    first_project(program).accumulate = true;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("project reads \"out\""));
  }
}

TEST_CASE("a duplicate name, a written weight, ids used as values and a missing output are rejected") {
  Program program = sound_program();
  SECTION("names") {
    program.buffers[2].name = "in";
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("two buffers \"in\""));
  }
  SECTION("weights") {
    program.operations.emplace_back(Activate{0, 1, 1, 8, Activation::relu, false});
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("the weight \"weight\""));
  }
  SECTION("ids") {
    first_project(program).in = 3;
    first_project(program).inputs = 1;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("uses \"ids\""));
  }
  SECTION("output") {
    program.output = no_buffer;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("output"));
  }
}

TEST_CASE("attention and KV caches that do not fit each other are rejected") {
  Program program = tiny_pass();
  SECTION("heads") {
    first_of<Attend>(program).kv_heads = 3;
    first_of<Attend>(program).length = 1;
    first_of<Attend>(program).capacity = 1;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("attend: kv_heads"));
  }
  SECTION("length") {
    first_of<Attend>(program).length = 8;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("attend: reads"));
  }
  SECTION("a query without visible keys") {
    first_of<Attend>(program).length = 2;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("causal query"));
  }
  SECTION("overlapping queries") {
    first_of<Attend>(program).query_stride = 7;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("overlap"));
  }
  SECTION("a full KV cache") {
    first_of<StoreKeysValues>(program).context = 5;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("store_keys_values"));
  }
  SECTION("heads that are not in the packed rows") {
    program = decoder_pass(tests::tiny_normed_decoder(), {.tokens = 3, .batch = 2, .context = 4});
    first_of<NormaliseHeads>(program).heads = 5;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("normalise_heads reaches element 108"));
  }
  SECTION("ids beyond the table") {
    first_of<Embed>(program).vocabulary = 9;
    CHECK_THROWS_MATCHES(check_program(program), std::logic_error, Says("embed"));
  }
}

}  // namespace foredraft::latency
