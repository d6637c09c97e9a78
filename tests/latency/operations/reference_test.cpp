// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string_view>

#include "latency/operations/forward_passes.hpp"
#include "latency/operations/reference.hpp"
#include "tests/latency/operations/tiny_shapes.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::latency {
namespace {

using foredraft::tests::few_ulp;
using foredraft::tests::second_route;

constexpr std::uint64_t seed = 11;

std::size_t buffer_named(const Program& program, std::string_view name) {
  const auto found = std::find_if(program.buffers.begin(), program.buffers.end(),
                                  [&name](const Buffer& buffer) { return buffer.name == name; });
  REQUIRE(found != program.buffers.end());
  return static_cast<std::size_t>(found - program.buffers.begin());
}

std::vector<double>& contents_named(const Program& program, BufferContents& contents, std::string_view name) {
  return contents[buffer_named(program, name)];
}

BufferContents run(const Program& program) {
  BufferContents contents = initial_contents(program, DataType::fp32, seed);
  run_reference(program, contents);
  return contents;
}

const std::vector<double>& output_of(const Program& program, const BufferContents& contents) {
  return contents[static_cast<std::size_t>(program.output)];
}

/// Row `row` of a matrix of `width` columns.
std::vector<double> row_of(const std::vector<double>& values, std::int64_t row, std::int64_t width) {
  return {values.begin() + row * width, values.begin() + (row + 1) * width};
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0.0;
  // Written so that a NaN counts as the largest difference.
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= largest)) largest = std::abs(a[i] - b[i]);
  }
  return largest;
}

/// One operation over buffers of these sizes, the last of them the output.
BufferContents run_one(const Operation& operation, BufferContents contents) {
  Program program;
  for (const std::vector<double>& values : contents) {
    program.buffers.push_back({"buffer " + std::to_string(program.buffers.size()), BufferKind::cache,
                               static_cast<std::int64_t>(values.size()), 1.0, 0});
  }
  if (const auto* embed = std::get_if<Embed>(&operation)) {
    program.buffers[static_cast<std::size_t>(embed->tokens)].kind = BufferKind::tokens;
    program.buffers[static_cast<std::size_t>(embed->tokens)].vocabulary = embed->vocabulary;
  }
  if (const auto* pick = std::get_if<PickToken>(&operation)) {
    program.buffers[static_cast<std::size_t>(pick->out)].kind = BufferKind::tokens;
    program.buffers[static_cast<std::size_t>(pick->out)].vocabulary = pick->vocabulary;
  }
  program.operations.push_back(operation);
  program.output = 0;
  run_reference(program, contents);
  return contents;
}

}  // namespace

TEST_CASE("an embedding looks up rows and adds the positions of each sequence") {
  // Table 3 x 2, positions 4 x 2 of which those from 1 on are used; two sequences of two tokens.
  const BufferContents after =
      run_one(Embed{0, 1, 2, 3, 4, 2, 3, 2, 1},
              {{2, 0, 1, 1}, {1, 2, 3, 4, 5, 6}, {9, 9, 10, 20, 30, 40, 9, 9}, std::vector<double>(8)});
  CHECK(after[3] == std::vector<double>{15, 26, 31, 42, 13, 24, 33, 44});
}

TEST_CASE("norms of a row worked by hand, the sum with delta kept in the stream") {
  const double root_mean_square = std::sqrt(12.5 + norm_epsilon);
  const BufferContents rms =
      run_one(AddNormalise{0, 1, 2, no_buffer, 3, 1, 2, Norm::rms}, {{1, 1}, {2, 3}, {10, 100}, {0, 0}});
  CHECK(rms[0] == std::vector<double>{3, 4});
  CHECK(rms[3][0] == Approx(10 * 3 / root_mean_square).epsilon(few_ulp));
  CHECK(rms[3][1] == Approx(100 * 4 / root_mean_square).epsilon(few_ulp));

  const double deviation = std::sqrt(4.0 + norm_epsilon);
  const BufferContents layer =
      run_one(AddNormalise{0, no_buffer, 1, 2, 3, 1, 2, Norm::layer}, {{1, 5}, {10, 100}, {7, 8}, {0, 0}});
  CHECK(layer[0] == std::vector<double>{1, 5});
  CHECK(layer[3][0] == Approx(7 - 10 * 2 / deviation).epsilon(few_ulp));
  CHECK(layer[3][1] == Approx(8 + 100 * 2 / deviation).epsilon(few_ulp));
}

TEST_CASE("queries and keys are normalized head by head, each with its gain, and values stay") {
  // Two rows of two heads of queries, one of keys and one of values, of size 2.
  const BufferContents after = run_one(NormaliseHeads{0, 1, 2, 2, 2, 1, 2},
                                       {{3, 4, 0, 2, 6, 8, 7, 9, 1, 1, 1, -1, 5, 0, 8, 6}, {10, 100}, {1000, -1}});
  const double of_5 = std::sqrt(12.5 + norm_epsilon), of_10 = std::sqrt(50 + norm_epsilon);
  const double of_2 = std::sqrt(2 + norm_epsilon), of_1 = std::sqrt(1 + norm_epsilon);
  CHECK(largest_difference(after[0], {30 / of_5, 400 / of_5, 0, 200 / of_2, 6000 / of_10, -8 / of_10, 7, 9, 10 / of_1,
                                      100 / of_1, 10 / of_1, -100 / of_1, 5000 / of_5, 0, 8, 6}) < few_ulp * 5000);
}

TEST_CASE("a projection multiplies by the transposed weight, adds its bias and the previous value") {
  const BufferContents contents{{1, 2, 3, 4}, {1, 0, 10, 100, 0, 1}, {5, 6, 7}, {1, 1, 1, 2, 2, 2}};
  CHECK(run_one(Project{0, 1, 2, 3, 2, 3, 2, false}, contents)[3] == std::vector<double>{6, 216, 9, 8, 436, 11});
  CHECK(run_one(Project{0, 1, no_buffer, 3, 2, 3, 2, true}, contents)[3] == std::vector<double>{2, 211, 3, 5, 432, 6});
}

TEST_CASE("activations at points whose values are known, with the gate after the input") {
  const auto value = [](Activation function, double x) {
    return run_one(Activate{0, 1, 1, 1, function, false}, {{x}, {0}})[1][0];
  };
  CHECK(value(Activation::relu, -2.0) == 0.0);
  CHECK(value(Activation::relu, 2.0) == 2.0);
  CHECK(value(Activation::silu, std::log(3.0)) == Approx(0.75 * std::log(3.0)).epsilon(few_ulp));
  // x Phi(x) at 1, the normal distribution function to 16 digits.
  CHECK(value(Activation::gelu, 1.0) == Approx(0.8413447460685429).epsilon(few_ulp));
  CHECK(value(Activation::gelu, -1.0) == Approx(-0.15865525393145705).epsilon(few_ulp));
  CHECK(run_one(Activate{0, 1, 2, 2, Activation::relu, true}, {{1, 2, 10, 20, 3, -4, 30, 40}, {0, 0, 0, 0}})[1] ==
        std::vector<double>{10, 40, 90, 0});
}

TEST_CASE("the token picked is the largest, of equal ones the first") {
  CHECK(run_one(PickToken{0, 1, 3, 4}, {{0, 3, 3, 1, 2, 2, 2, 2, -9, -8, -7, -7}, {0, 0, 0}})[1] ==
        std::vector<double>{1, 0, 2});
}

TEST_CASE("attention over one key gives its value, over equal keys the mean of the values it may see") {
  // One head of 2, one sequence, two queries.
  const std::vector<double> queries{0.3, -2.0, 5.0, 1.0};
  CHECK(run_one(Attend{0, 1, 2, 3, 1, 1, 1, 1, 1, 1, 2, 2, true}, {queries, {3, 4}, {7, 8}, {0, 0}})[3] ==
        std::vector<double>{7, 8});
  const std::vector<double> keys{1, 2, 1, 2, 1, 2};
  const std::vector<double> values{0, 30, 60, 0, 0, 60};
  const BufferContents causal =
      run_one(Attend{0, 1, 2, 3, 1, 2, 3, 3, 1, 1, 2, 2, true}, {queries, keys, values, {0, 0, 0, 0}});
  CHECK(largest_difference(causal[3], {30, 15, 20, 30}) < few_ulp * 60);
  const BufferContents open =
      run_one(Attend{0, 1, 2, 3, 1, 2, 3, 3, 1, 1, 2, 2, false}, {queries, keys, values, {0, 0, 0, 0}});
  CHECK(largest_difference(open[3], {20, 30, 20, 30}) < few_ulp * 60);
}

TEST_CASE("attention weights are the exponentials of scaled scores") {
  // Scores 2 log 2 / sqrt(4) = log 2 and 0: shares 2/3 and 1/3.
  const BufferContents after =
      run_one(Attend{0, 1, 2, 3, 1, 1, 2, 2, 1, 1, 4, 4, true},
              {{std::log(2.0), std::log(2.0), 0, 0}, {1, 1, 5, 5, 0, 0, 5, 5}, {3, 0, 0, 0, 0, 3, 0, 0}, {0, 0, 0, 0}});
  CHECK(largest_difference(after[3], {2, 1, 0, 0}) < few_ulp * 3);
}

TEST_CASE("a grouped head reads the keys and values of its group") {
  // 4 heads of 1 over 2 heads of keys; one entry: each head gives the value of its group.
  CHECK(run_one(Attend{0, 1, 2, 3, 1, 1, 1, 1, 4, 2, 1, 4, true}, {{1, 2, 3, 4}, {1, 1}, {10, 20}, {0, 0, 0, 0}})[3] ==
        std::vector<double>{10, 10, 20, 20});
}

TEST_CASE("rotary positions keep norms, and scores depend on the distance alone") {
  // One head of 4; the query and key of one token, stored at positions 0 .. 5.
  const std::vector<double> packed{1.0, -2.0, 0.5, 3.0, 0.7, 0.1, -1.0, 2.0, 1, 2, 3, 4};
  const auto turned = [&packed](std::int64_t position) {
    return run_one(StoreKeysValues{0, 1, 2, 1, 1, position, 6, 1, 1, 4, true},
                   {packed, std::vector<double>(24), std::vector<double>(24)});
  };
  const auto score = [&turned](std::int64_t query, std::int64_t key) {
    const BufferContents a = turned(query);
    const BufferContents b = turned(key);
    double sum = 0.0;
    for (std::size_t i = 0; i < 4; ++i) sum += a[0][i] * b[1][static_cast<std::size_t>(key) * 4 + i];
    return sum;
  };
  CHECK(turned(0)[0] == packed);
  const BufferContents later = turned(5);
  double squares = 0.0;
  for (std::size_t i = 0; i < 4; ++i) squares += later[0][i] * later[0][i];
  CHECK(squares == Approx(1 + 4 + 0.25 + 9).epsilon(few_ulp));
  // The slowest pair turns by 1/100 a position, the fastest by 1: position 1, first pair (1, 0.5).
  CHECK(turned(1)[0][0] == Approx(std::cos(1.0) - 0.5 * std::sin(1.0)).epsilon(few_ulp));
  CHECK(turned(1)[0][1] == Approx(-2.0 * std::cos(0.01) - 3.0 * std::sin(0.01)).epsilon(few_ulp));
  CHECK(score(5, 3) == Approx(score(2, 0)).epsilon(second_route));
  CHECK(std::abs(score(5, 3) - score(5, 2)) > 0.1);
  // Values are never rotated, and only the one entry is written.
  CHECK(std::vector<double>(later[2].begin() + 20, later[2].end()) == std::vector<double>{1, 2, 3, 4});
  CHECK(std::count(later[1].begin(), later[1].begin() + 20, 0.0) == 20);
}

TEST_CASE("every pass writes all that it reads: no poison in its output") {
  const ForwardPassRequest request{.tokens = 1, .batch = 2, .context = 3};
  for (const ModelShape& shape :
       {tests::tiny_decoder(), tests::tiny_normed_decoder(), tests::tiny_encoder_decoder(), tests::tiny_head()}) {
    INFO(shape.name);
    std::vector<Program> programs{decoder_pass(shape, {.tokens = 3, .batch = 2, .context = 3}),
                                  autoregressive_drafting(shape, request, 3), block_drafting(shape, request, 3),
                                  head_drafting(shape, request, 3)};
    if (shape.encoder_layers > 0) programs.push_back(encoder_pass(shape, request));
    for (const Program& program : programs) {
      for (const std::vector<double>& values : run(program)) {
        CHECK(std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }));
      }
    }
  }
}

TEST_CASE("later tokens do not change earlier logits") {
  const ModelShape shape = tests::tiny_decoder();
  const Program program = decoder_pass(shape, {.tokens = 4, .batch = 1, .context = 2});
  const BufferContents before = run(program);
  BufferContents contents = initial_contents(program, DataType::fp32, seed);
  double& last = contents_named(program, contents, "tokens")[3];
  last = last == 0.0 ? 1.0 : 0.0;
  run_reference(program, contents);
  const std::vector<double>& changed = output_of(program, contents);
  for (std::int64_t row = 0; row < 3; ++row) {
    CHECK(row_of(changed, row, shape.vocabulary) == row_of(output_of(program, before), row, shape.vocabulary));
  }
  CHECK(row_of(changed, 3, shape.vocabulary) != row_of(output_of(program, before), 3, shape.vocabulary));
}

TEST_CASE("tokens decoded one by one through the KV cache give the logits of one pass over all") {
  ModelShape ungrouped = tests::tiny_decoder();
  ungrouped.kv_heads = ungrouped.heads;
  for (const ModelShape& shape : {tests::tiny_decoder(), ungrouped, tests::tiny_normed_decoder(),
                                  tests::tiny_encoder_decoder(), tests::tiny_head()}) {
    INFO(shape.name << ", kv_heads " << shape.kv_heads);
    constexpr std::int64_t batch = 2;
    constexpr std::int64_t tokens = 3;
    constexpr std::int64_t context = 4;
    const Program all = decoder_pass(shape, {.tokens = tokens, .batch = batch, .context = context});
    const BufferContents expected = run(all);
    const BufferContents initial = initial_contents(all, DataType::fp32, seed);
    // Both caches have the capacity of the whole, so that entries have equal positions.
    BufferContents previous = initial;
    Program previous_program = all;
    for (std::int64_t step = 0; step < tokens; ++step) {
      Program one = decoder_pass(shape, {.tokens = 1, .batch = batch, .context = context + step});
      for (Operation& operation : one.operations) {
        if (auto* store = std::get_if<StoreKeysValues>(&operation)) store->capacity = context + tokens;
        if (auto* attend = std::get_if<Attend>(&operation); attend != nullptr && attend->causal) {
          attend->capacity = context + tokens;
        }
      }
      BufferContents contents = initial_contents(one, DataType::fp32, seed);
      for (std::size_t i = 0; i < one.buffers.size(); ++i) {
        Buffer& buffer = one.buffers[i];
        const std::vector<double>& whole = initial[buffer_named(all, buffer.name)];
        if (buffer.name == "tokens" || buffer.name == "hidden states") {
          const auto width = static_cast<std::size_t>(buffer.elements / batch);
          for (std::size_t sequence = 0; sequence < batch; ++sequence) {
            for (std::size_t j = 0; j < width; ++j) {
              contents[i][sequence * width + j] =
                  whole[(sequence * tokens + static_cast<std::size_t>(step)) * width + j];
            }
          }
        } else if (buffer.kind == BufferKind::cache) {
          contents[i] = previous[buffer_named(previous_program, buffer.name)];
          buffer.elements = static_cast<std::int64_t>(contents[i].size());
        }
      }
      run_reference(one, contents);
      for (std::int64_t sequence = 0; sequence < batch; ++sequence) {
        CHECK(largest_difference(row_of(output_of(one, contents), sequence, shape.vocabulary),
                                 row_of(output_of(all, expected), sequence * tokens + step, shape.vocabulary)) <
              second_route);
      }
      previous = contents;
      previous_program = one;
    }
  }
}

TEST_CASE("the encoder's pass fills the KV caches that the decoder's pass reads") {
  const ModelShape shape = tests::tiny_encoder_decoder();
  const ForwardPassRequest request{.tokens = 2, .batch = 2, .context = 3};
  const Program encoder = encoder_pass(shape, request);
  const Program decoder = decoder_pass(shape, request);
  BufferContents encoded = run(encoder);
  for (const char* name :
       {"layer 0 cross keys", "layer 0 cross values", "layer 1 cross keys", "layer 1 cross values"}) {
    const Buffer& written = encoder.buffers[buffer_named(encoder, name)];
    const Buffer& read = decoder.buffers[buffer_named(decoder, name)];
    CHECK(written.elements == read.elements);
    CHECK(contents_named(encoder, encoded, name) !=
          initial_contents(encoder, DataType::fp32, seed)[buffer_named(encoder, name)]);
  }
  // Layer 1's values are the projection of the encoder's output by the weights of that name.
  const std::vector<double>& memory = output_of(encoder, encoded);
  const std::vector<double>& weight = contents_named(encoder, encoded, "layer 1 cross value");
  double sum = contents_named(encoder, encoded, "layer 1 cross value bias")[5];
  for (std::size_t k = 0; k < 8; ++k) sum += memory[3 * 8 + k] * weight[5 * 8 + k];
  CHECK(contents_named(encoder, encoded, "layer 1 cross values")[3 * 8 + 5] == Approx(sum).epsilon(second_route));
}

TEST_CASE("an encoder reads its whole source: the last token changes the first output") {
  const ModelShape shape = tests::tiny_encoder_decoder();
  const Program program = encoder_pass(shape, {.tokens = 1, .batch = 1, .context = 0});
  const BufferContents before = run(program);
  BufferContents contents = initial_contents(program, DataType::fp32, seed);
  double& last = contents_named(program, contents, "source tokens").back();
  last = last == 0.0 ? 1.0 : 0.0;
  run_reference(program, contents);
  CHECK(row_of(output_of(program, contents), 0, 8) != row_of(output_of(program, before), 0, 8));
}

TEST_CASE("the sequences of a batch do not see each other") {
  const ModelShape shape = tests::tiny_encoder_decoder();
  const Program two = decoder_pass(shape, {.tokens = 2, .batch = 2, .context = 3});
  const BufferContents expected = run(two);
  const Program one = decoder_pass(shape, {.tokens = 2, .batch = 1, .context = 3});
  const BufferContents initial = initial_contents(two, DataType::fp32, seed);
  for (const std::size_t sequence : {std::size_t{0}, std::size_t{1}}) {
    BufferContents contents = initial_contents(one, DataType::fp32, seed);
    for (std::size_t i = 0; i < one.buffers.size(); ++i) {
      if (one.buffers[i].kind == BufferKind::weight || one.buffers[i].kind == BufferKind::activation) continue;
      const std::vector<double>& both = initial[buffer_named(two, one.buffers[i].name)];
      const auto half = static_cast<std::ptrdiff_t>(both.size() / 2);
      const auto first = both.begin() + static_cast<std::ptrdiff_t>(sequence) * half;
      contents[i].assign(first, first + half);
    }
    run_reference(one, contents);
    for (std::int64_t row = 0; row < 2; ++row) {
      CHECK(row_of(output_of(one, contents), row, shape.vocabulary) ==
            row_of(output_of(two, expected), static_cast<std::int64_t>(sequence) * 2 + row, shape.vocabulary));
    }
  }
}

TEST_CASE("autoregressive drafting feeds each pass the token that the last one picked") {
  for (const ModelShape& shape : {tests::tiny_decoder(), tests::tiny_encoder_decoder()}) {
    INFO(shape.name);
    const ForwardPassRequest request{.tokens = 1, .batch = 2, .context = 3};
    const Program drafting = autoregressive_drafting(shape, request, 3);
    BufferContents drafted = run(drafting);
    // One pass over the first token and the first two drafts must pick the same drafts, from the same caches.
    const Program all = decoder_pass(shape, {.tokens = 3, .batch = 2, .context = 3});
    BufferContents contents = initial_contents(all, DataType::fp32, seed);
    const BufferContents initial = initial_contents(drafting, DataType::fp32, seed);
    for (std::size_t i = 0; i < all.buffers.size(); ++i) {
      if (all.buffers[i].kind == BufferKind::cache) contents[i] = initial[buffer_named(drafting, all.buffers[i].name)];
    }
    const std::vector<std::vector<double>> steps{
        contents_named(drafting, drafted, "tokens"), contents_named(drafting, drafted, "draft 0"),
        contents_named(drafting, drafted, "draft 1"), contents_named(drafting, drafted, "draft 2")};
    for (std::size_t sequence = 0; sequence < 2; ++sequence) {
      for (std::size_t step = 0; step < 3; ++step) {
        contents_named(all, contents, "tokens")[sequence * 3 + step] = steps[step][sequence];
      }
    }
    run_reference(all, contents);
    for (std::size_t row = 0; row < 6; ++row) {
      const std::vector<double> logits =
          row_of(output_of(all, contents), static_cast<std::int64_t>(row), shape.vocabulary);
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      CHECK(static_cast<double>(best) == steps[row % 3 + 1][row / 3]);
    }
    // With few tokens a pick may be right by chance; the logits after the last one may not.
    for (std::int64_t sequence = 0; sequence < 2; ++sequence) {
      CHECK(largest_difference(row_of(contents_named(drafting, drafted, "logits"), sequence, shape.vocabulary),
                               row_of(output_of(all, contents), sequence * 3 + 2, shape.vocabulary)) < second_route);
    }
  }
}

TEST_CASE("a block drafter's positions see each other, and each picks its own token") {
  const ModelShape shape = tests::tiny_encoder_decoder();
  const Program program = block_drafting(shape, {.tokens = 1, .batch = 1, .context = 3}, 4);
  BufferContents before = run(program);
  BufferContents contents = initial_contents(program, DataType::fp32, seed);
  double& last = contents_named(program, contents, "tokens")[3];
  last = last == 0.0 ? 1.0 : 0.0;
  run_reference(program, contents);
  CHECK(row_of(contents_named(program, contents, "logits"), 0, shape.vocabulary) !=
        row_of(contents_named(program, before, "logits"), 0, shape.vocabulary));
  CHECK(output_of(program, before).size() == 4);
}

TEST_CASE("Medusa's heads all start from the target's hidden states") {
  const ModelShape shape = tests::tiny_decoder();
  const Program three = head_drafting(shape, {.tokens = 1, .batch = 2, .context = 4}, 3);
  const BufferContents together = run(three);
  // The third head alone: the first two heads' weights and operations change nothing.
  Program alone = three;
  alone.operations.erase(alone.operations.begin(), alone.operations.begin() + 12);
  const BufferContents apart = run(alone);
  CHECK(apart[buffer_named(three, "draft 2")] == together[buffer_named(three, "draft 2")]);
  CHECK(apart[buffer_named(three, "logits")] == together[buffer_named(three, "logits")]);
}

}  // namespace foredraft::latency
