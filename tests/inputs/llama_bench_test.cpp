// SPDX-License-Identifier: Apache-2.0
#include "inputs/llama_bench.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <vector>

#include "answers/profile_prediction.hpp"
#include "foredraft/errors.hpp"
#include "latency/profile/profile.hpp"
#include "latency/surfaces/pair_surface.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tolerances.hpp"

/// Profiles from the output of llama.cpp's programs: our own texts in their formats. No engine is run.
namespace foredraft::tests {
namespace {

using inputs::BenchFile;
using inputs::parse_llama_bench;
using latency::Role;

/// A target of which verifications of 1, 2 and 3 tokens take 40, 44 and 50 ms after 100 tokens, and 2 of them 42 ms
/// with the logits of the last one only.
const std::string target =
    R"({"build_commit": "abc", "cpu_info": "A, CPU", "gpu_info": "", "model_filename": "m/t.gguf", "embeddings": true, "n_prompt": 1, "n_gen": 0, "n_depth": 100, "test_time": "2026", "avg_ns": 1, "samples_ns": [39000000, 40000000, 90000000]}
{"build_commit": "abc", "cpu_info": "A, CPU", "gpu_info": "", "model_filename": "m/t.gguf", "embeddings": true, "n_prompt": 2, "n_gen": 0, "n_depth": 100, "avg_ns": 44000000}
{"build_commit": "abc", "cpu_info": "A, CPU", "gpu_info": "", "model_filename": "m/t.gguf", "embeddings": false, "n_prompt": 2, "n_gen": 0, "n_depth": 100, "avg_ns": 42000000}

{"build_commit": "abc", "cpu_info": "A, CPU", "gpu_info": "", "model_filename": "m/t.gguf", "embeddings": true, "n_prompt": 3, "n_gen": 0, "n_depth": 100, "avg_ns": 50000000}
)";

/// A drafter with passes of 1, 2 and 3 tokens in 4, 5 and 6 ms.
const std::string draft = R"(build_commit,cpu_info,model_filename,embeddings,n_prompt,n_gen,n_depth,avg_ns
"abc","A, CPU","m/d.gguf","0","0","9","96","36000000"
"abc","A, CPU","m/d.gguf","0","2","0","100","5000000"
"abc","A, CPU","m/d.gguf","0","3","0","100","6000000"
)";

/// 10 iterations that draft 2 tokens in 14 ms.
std::string loop_log(const std::string& gamma, const std::string& drafted, const std::string& ms) {
  return "encoded   90 tokens in    0.170 seconds, speed:  129.790 t/s\n"
         "decoded   20 tokens in    4.904 seconds, speed:   26.305 t/s\n\n"
         "n_draft   = " +
         gamma +
         "\n"
         "statistics     draft-simple: #calls(b,g,a) =    1     10     10, #gen drafts =     10, #acc drafts =     5, "
         "#gen tokens =     " +
         drafted + ", #acc tokens =    7, #mean acc len = 1.72, dur(b,g,a) = 0.001, " + ms + ", 0.022 ms\n";
}

const latency::EngineLoop llama_cpp{.draft_catch_up = latency::CatchUp::verified,
                                    .draw_us = {.value = 50.0, .ci95 = {}, .origin = "--draw-us"}};

double step_us(const latency::Profile& profile, const std::string& model, std::int64_t tokens, std::int64_t context,
               Role role = Role::decoder_pass, std::int64_t batch = 1) {
  const auto* row = find_step(
      profile, {.model = model, .role = role, .dtype = "engine", .batch = batch, .tokens = tokens, .context = context});
  return row == nullptr ? 0.0 : row->timing.summary.median_us;
}

std::string problem(const std::vector<BenchFile>& files) {
  return whole_rejection([&] { return parse_llama_bench(files, {}); });
}

}  // namespace

TEST_CASE("passes of llama-bench become steps of an engine, those with all logits before those with the last one") {
  const auto profile = parse_llama_bench(std::vector<BenchFile>{{"t.jsonl", target, ""}, {"d.csv", draft, ""}}, {});
  CHECK(profile.source == latency::Source::engine);
  CHECK(profile.device.name == "A; CPU under llama.cpp");
  CHECK(profile.identity.tool_version == "llama.cpp abc");
  CHECK(profile.steps.size() == 6);
  CHECK(step_us(profile, "t", 1, 100) == 40'000.0);
  CHECK(step_us(profile, "t", 2, 100) == 44'000.0);
  CHECK(step_us(profile, "t", 3, 100) == 50'000.0);
  CHECK(step_us(profile, "d", 1, 100) == 4'000.0);  // after 96 to 104 tokens
  CHECK(step_us(profile, "d", 2, 100) == 5'000.0);
  REQUIRE(profile.notes.size() == 1);
  CHECK_THAT(profile.notes.front().text, Catch::StartsWith("d: passes of several tokens with the logits of the last"));
  // A list as -o json writes it, and the same test twice: the median of both.
  std::string list = "[\n" + target.substr(0, target.find('\n')) + ",\n" + target.substr(0, target.find('\n')) + "\n]";
  list.replace(list.find("90000000"), 8, "10000000");
  CHECK(step_us(parse_llama_bench(std::vector<BenchFile>{{"t.json", list, "x"}}, {}), "x", 1, 100) == 39'500.0);
}

TEST_CASE("passes over 1 to 8 tokens give the time of a token, and at two depths how often the KV cache is read") {
  std::string tests;
  for (const std::int64_t depth : {0, 8192}) {
    for (const std::int64_t tokens : {1, 2, 5, 8}) {
      const auto us = 1e4 * std::pow(1.0 + std::pow(0.1 * static_cast<double>(tokens), 1.3), 1.0 / 1.3) +
                      (depth > 0 ? 2000.0 * (1.0 + 0.5 * static_cast<double>(tokens - 1)) : 0.0);
      tests += fmt::format(
          R"({{"build_commit": "abc", "gpu_info": "NVIDIA GeForce RTX 3090", "model_filename": "m/t.gguf", )"
          R"("model_n_params": 8000000000, "embeddings": true, "n_prompt": {}, "n_gen": 0, "n_depth": {}, "avg_ns": {}}})"
          "\n",
          tokens, depth, std::llround(1e3 * us));
    }
  }
  const auto profile = parse_llama_bench(std::vector<BenchFile>{{"t.jsonl", tests, ""}}, {});
  REQUIRE(profile.notes.size() == 2);
  // 16 Gflop in 1 ms, of 35.6 TFLOP/s.
  CHECK(profile.notes[0].name == "few_tokens");
  CHECK_THAT(profile.notes[0].text, Catch::Contains("16.00 (16.00 to 16.00) TFLOP/s") && Catch::Contains("0.45 (0.45"));
  CHECK(profile.notes[1].name == "kv_reread");
  CHECK_THAT(profile.notes[1].text, Catch::Contains("0.50 (0.50 to 0.50) times again"));
}

TEST_CASE("llama-batched-bench gives decode steps of batches, a log of the loop the drafting time inside it") {
  const std::string batched = R"({"n_kv_max": 99, "pp": 128, "tg": 5, "pl": 4, "n_kv": 9, "t_pp": 1.0, "t_tg": 0.25})";
  const auto profile = parse_llama_bench(
      std::vector<BenchFile>{{"b.jsonl", batched, "t"}, {"d.log", loop_log("2", "20", "140.000"), "d"}}, llama_cpp);
  CHECK(step_us(profile, "t", 1, 130, Role::decoder_pass, 4) == Approx(50'000.0).epsilon(second_route));
  CHECK(step_us(profile, "d", 2, 100, Role::autoregressive_drafting) == Approx(14'000.0).epsilon(second_route));
  // Two drafts of the last iteration were cut off: the time of two drafts follows from 18 in 126 ms.
  const auto shorter =
      parse_llama_bench(std::vector<BenchFile>{{"d.log", loop_log("2", "18", "126.000"), "d"}}, llama_cpp);
  CHECK(step_us(shorter, "d", 2, 100, Role::autoregressive_drafting) == Approx(14'000.0).epsilon(second_route));
  // A run of 3 drafts that ended 6 tokens later counts at the context of the others.
  std::string later = loop_log("3", "30", "180.000");
  later.replace(later.find("decoded   20"), 12, "decoded   32");
  const auto longer = parse_llama_bench(
      std::vector<BenchFile>{{"2.log", loop_log("2", "20", "140.000"), "d"}, {"3.log", later, "d"}}, llama_cpp);
  CHECK(step_us(longer, "d", 3, 100, Role::autoregressive_drafting) == Approx(18'000.0).epsilon(second_route));
  const std::string text = inputs::bench_text(profile);
  CHECK_THAT(text, Catch::Contains("catch-up  after each verification"));
  CHECK_THAT(text, Catch::Contains("draws     50.0 us a token"));
}

TEST_CASE("all problems of an engine's files are reported at once, with file and line") {
  std::string wrong = target;
  wrong.replace(wrong.find("\"n_prompt\": 2"), 13, "\"n_prompt\": -2");
  wrong.replace(wrong.find("\"avg_ns\": 42000000"), 18, "\"avg_ns\": \"x\"");
  const std::string said = problem({{"t.jsonl", wrong, ""}, {"d.csv", draft + "\"abc\",1\n", ""}});
  CHECK_THAT(said, Catch::Contains("t.jsonl:2: n_prompt: invalid n_prompt=\"-2\""));
  CHECK_THAT(said, Catch::Contains("t.jsonl:3: avg_ns: invalid avg_ns=\"x\""));
  CHECK_THAT(said, Catch::Contains("d.csv:5: 2 cells below 8 columns"));
  const auto said_of = [](const std::string& text) { return problem({{"f", text, ""}}); };
  CHECK_THAT(said_of(""), Catch::Contains("holds no test"));
  CHECK_THAT(said_of("| model | t/s |\n"), Catch::Contains("f:1: not output of llama-bench or llama-batched-bench"));
  CHECK_THAT(said_of("[1, 2]"), Catch::Contains("an entry is not an object"));
  CHECK_THAT(said_of("{\"n_prompt\": 1"), Catch::Contains("f:1: "));
  CHECK_THAT(said_of("[\n{\"n_prompt\": 1},\n{\"n_gen\": 1}\n]"), Catch::Contains("f:3: n_prompt: missing"));
  CHECK_THAT(said_of("{\"pp\": 1, \"tg\": 2, \"pl\": 1, \"t_tg\": 1}"), Catch::Contains("NAME=FILE"));
  CHECK_THAT(said_of(loop_log("2", "20", "140.0")), Catch::Contains("NAME=FILE"));
  CHECK_THAT(said_of(loop_log("2", "20", "nan")), Catch::Contains("f:5: the log lacks the time of drafting"));
  CHECK_THAT(said_of(loop_log("0", "20", "140.0")), Catch::Contains("the log lacks the time of drafting"));
  std::string both = target;
  both.replace(both.find("\"n_gen\": 0"), 10, "\"n_gen\": 9");
  CHECK_THAT(said_of(both), Catch::Contains("f:1: n_prompt: n_prompt=1 and n_gen=9"));
  std::string other = draft;
  other.replace(other.rfind("\"abc\""), 5, "\"xyz\"");
  CHECK_THAT(said_of(other), Catch::Contains("f:4: on A, CPU by build xyz"));
}

TEST_CASE("an engine's loop charges the drafter's catch-up pass and a draw at each position, in a prediction") {
  const std::vector<BenchFile> files{{"t.jsonl", target, ""}, {"d.csv", draft, ""}};
  answers::ProfileQuestion question{.target = "t", .draft = "d", .acceptance = Iid{0.7}};
  question.gamma = 2;
  question.contexts = {100};
  const auto iteration_us = [&](const latency::Profile& profile) {
    const answers::ProfilePrediction prediction = predict(question, profile);
    const answers::AtDraftLength& length = prediction.cells.front().lengths.at(1);
    return analytic::iteration_time(length.iteration);
  };
  // Verification of 3, two drafts; the drafter over 3; three draws.
  const double passes = 50'000.0 + 2.0 * 4'000.0;
  CHECK(iteration_us(parse_llama_bench(files, {})) == Approx(passes).epsilon(second_route));
  const latency::Profile whole = parse_llama_bench(files, llama_cpp);
  CHECK(iteration_us(whole) == Approx(passes + 6'000.0 + 3.0 * 50.0).epsilon(second_route));
  CHECK(predict(question, whole).cells.front().plain_sampling->time_us == 50.0);
  // The profile's file states it too.
  const std::string text = latency::to_json(whole);
  const latency::Profile read = latency::from_json(text, "p.json");
  CHECK(latency::to_json(read) == text);
  CHECK(iteration_us(read) == iteration_us(whole));
}

TEST_CASE("sweeps and servers charge an engine's loop as a prediction does") {
  const std::vector<BenchFile> files{{"t.jsonl", target, ""}, {"d.csv", draft, ""}};
  const latency::Profile profile = parse_llama_bench(files, llama_cpp);
  const auto times = latency::surface_times(profile, "p", {.target = "t", .draft = "d", .models = {}}, {});
  LookedUpTimes asked;
  asked.batch = 1;
  asked.context = 100;
  const DecodingCost cost = times->cost(asked, 2, Convention::bonus).value();
  // Verification of 3, the drafter over 3, three draws; two drafts; a plain step and its draw.
  CHECK(cost.iteration + 2.0 * cost.draft_pass == Approx((56'150.0 + 8'000.0) / 40'050.0).epsilon(second_route));
  CHECK(times->target_us({.batch = 1, .tokens = 3, .context = 100.0}, Convention::bonus) ==
        Approx(56'150.0).epsilon(second_route));
}

TEST_CASE("a drafter whose weights the target evicted from the cache also reads them from memory for verified tokens") {
  const std::vector<BenchFile> files{{"t.jsonl", target, ""},
                                     {"d.csv", draft, ""},
                                     {"1.log", loop_log("1", "10", "80.0"), "d"},
                                     {"2.log", loop_log("2", "20", "140.0"), "d"}};
  const latency::Profile profile = parse_llama_bench(files, llama_cpp);
  const latency::PairSurface pair(profile, {}, "t", "d", Role::autoregressive_drafting);
  CHECK(pair.drafting(2, 1, 100).time_us == Approx(14'000.0).epsilon(second_route));
  // One draft takes 8 ms there and 4 ms alone, a pass over 3 tokens alone 6 ms: (6^3 + 8^3 - 4^3)^(1/3).
  CHECK(pair.catch_up(2, 1, 100)->time_us == Approx(1e3 * std::cbrt(216.0 + 512.0 - 64.0)).epsilon(second_route));
  latency::Profile none = profile;
  none.engine_loop->draft_catch_up = latency::CatchUp::none;
  CHECK_FALSE(latency::PairSurface(none, {}, "t", "d", Role::autoregressive_drafting).catch_up(2, 1, 100));
  none.source = latency::Source::user;
  CHECK_THROWS_MATCHES(latency::check_profile(none), DomainError, Says("engine_loop"));
}

TEST_CASE("calibrate reads the files of an engine, keeps their profile and rejects files that do not belong to it") {
  const TemporaryFolder folder;
  write_text(folder / "t.jsonl", target);
  write_text(folder / "d.csv", draft);
  const auto calibrate = [&](const std::string& arguments) {
    return foredraft(folder, "calibrate --backend llama-bench --out p.json " + arguments);
  };
  const std::string files = "t.jsonl d.csv";
  CHECK_THAT(calibrate("").err, Catch::Contains("--backend: llama-bench without files"));
  CHECK_THAT(calibrate(files + " --minutes 3").err, Catch::Contains("nothing is measured here"));
  CHECK_THAT(foredraft(folder, "calibrate --out x.json " + files).err,
             Catch::Contains("only llama-bench's output is read"));
  CHECK_THAT(foredraft(folder, "calibrate --draw-us 3 --out x.json").err,
             Catch::Contains("without --backend llama-bench"));
  CHECK_FALSE(std::filesystem::exists(folder / "p.json"));
  const auto done = calibrate(files + " --draw-us 50");
  REQUIRE(done.code == 0);
  const latency::Profile profile = latency::read_profile(folder / "p.json");
  CHECK(profile.engine_loop->draft_catch_up == latency::CatchUp::verified);
  CHECK(profile.engine_loop->draw_us.value == 50.0);
  CHECK(calibrate(files).code == 2);  // never overwritten
  CHECK_THAT(foredraft(folder, "predict --profile p.json --target t --draft d --alpha 0.7 --gamma 2 --context 100").out,
             Catch::Contains("draft 8.00 + verify 50.00 + catch-up 6.00 + sampling 0.15"));
}

}  // namespace foredraft::tests
