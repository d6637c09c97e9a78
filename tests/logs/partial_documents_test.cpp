// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/numbers.hpp"
#include "logs/observations_file.hpp"
#include "tests/logs/logs_testing.hpp"

/// Partial documents: any two keys identify one, and absent values are unknown.
namespace foredraft::tests {
namespace {

using Json = nlohmann::ordered_json;
using logs::Decoding;
using logs::LogContents;
using logs::Observation;

/// The only observation of a document, which must be of this format.
Observation only(std::string_view text, const std::string& format) {
  const LogContents contents = read_log(text);
  CHECK(contents.format == format);
  REQUIRE(contents.observations.size() == 1);
  return contents.observations[0];
}

/// The whole message; empty if the log is read.
std::string message_of(std::string_view text) {
  try {
    read_log(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

void check_resembles(std::string_view text, const std::string& format) {
  INFO(text);
  const std::string message = message_of(text);
  CHECK(message.starts_with("some.log:1: no line of a known format"));
  CHECK(message.find("looks like " + format) != std::string::npos);
}

/// The contents; nullopt and the message if the document is rejected.
struct Reading {
  std::optional<std::string> text = {};
  std::string message = {};
};

Reading reading_of(const Json& document) {
  try {
    LogContents contents = read_log(document.dump());
    contents.lines = 0;
    return {.text = logs::observations_text({{{.file = "some.log", .sha256 = "", .contents = contents}}})};
  } catch (const InputError& error) {
    return {.message = error.what()};
  }
}

bool is_number(const Json& value) {
  return value.is_string() ? parse_real(value.get_ref<const std::string&>()).has_value() : value.is_number();
}

/// The document; for rows the first one with `key`, else the first one.
Json whole_or_row(const std::string& text, std::string_view key) {
  Json whole = Json::parse(text, nullptr, false);
  if (!whole.is_discarded()) return whole;
  const std::size_t found = text.find(key);
  const std::size_t at = found == std::string::npos ? 0 : text.rfind('\n', found) + 1;
  return Json::parse(text.substr(at, text.find('\n', at) - at));
}

/// Pointers to all members of objects in a document; of a list, to those of its first entry.
void add_members(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& members) {
  if (value.is_array() && !value.empty()) return add_members(value.front(), at / 0, members);
  if (!value.is_object()) return;
  for (const auto& member : value.items()) {
    const Json::json_pointer key = at / member.key();
    members.push_back(key);
    add_members(member.value(), key, members);
  }
}

/// Checks that a document with this value of a key is rejected with the name of the key, or read as if the value were
/// irrelevant or unknown.
void check_value(const Json& document, const Json::json_pointer& key, const Json& value) {
  INFO(key.to_string() << " = " << value.dump());
  Json changed = document;
  changed[key] = value;
  const Reading reading = reading_of(changed);
  if (!reading.text) {
    const bool named = reading.message.find(key.back()) != std::string::npos;
    CHECK((named || reading.message.find("no line of a known format") != std::string::npos));
    return;
  }
  changed[key] = nullptr;
  CHECK((reading.text == reading_of(document).text || reading.text == reading_of(changed).text));
}

}  // namespace

TEST_CASE("trtllm-bench: a part of a report is known by any two of its keys") {
  const Observation run =
      only(R"({"engine": null, "request_info": {}, "performance": {"system_output_throughput_tok_s": 240.0}})",
           "trtllm-bench");
  CHECK(run.decoding == Decoding::unknown);
  CHECK(run.times.output_tokens_per_s == 240.0);
  CHECK_FALSE(run.times.duration_s);
  CHECK_FALSE(run.requests);
  CHECK_FALSE(run.stratum.output_tokens);
  const std::string lengths =
      R"({"decoding_stats": {"num_draft_tokens_percentiles": {"average": 90.0}, "num_accepted_draft_tokens_percentiles":)"
      R"( {"average": 60.0}, "acceptance_length_percentiles": {"average": 2.5}}})";
  const Observation length = only(lengths, "trtllm-bench");
  CHECK(length.decoding == Decoding::speculative);
  CHECK(length.acceptance_length == 2.5);
  CHECK_FALSE(length.acceptance);
  CHECK(warns(read_log(lengths), "W10"));
  check_resembles(R"({"request_info": {"num_requests": 50}})", "trtllm-bench");
  check_resembles(R"({"performance": {"system_output_throughput_tok_s": 240.0}})", "trtllm-bench");
}

TEST_CASE("trtllm-bench: a whole report without decoding statistics is plain, impossible ones are rejected") {
  Json report = Json::parse(sample("trtllm_bench.json"));
  report["decoding_stats"]["num_accepted_draft_tokens_percentiles"]["average"] = 201.0;
  CHECK(problem(report.dump()) == "some.log:1: decoding_stats.num_accepted_draft_tokens_percentiles.average: 201");
  report["decoding_stats"] = {{"acceptance_length_percentiles", {{"average", 0.5}}}};
  CHECK(problem(report.dump()) == "some.log:1: decoding_stats.acceptance_length_percentiles.average: 0.5");
  report.erase("decoding_stats");
  CHECK(only(report.dump(), "trtllm-bench").decoding == Decoding::plain);
  report.erase("engine");
  CHECK(only(report.dump(), "trtllm-bench").decoding == Decoding::unknown);
}

TEST_CASE("specdec_bench: lengths of rates or of requests where the histogram is absent") {
  const std::string joint =
      R"({"Average_AL": 2.6, "Joint_Acceptance_Rate": {"1": 1.0, "2": 0.7, "3": 0.4}, "Request_AL": null})";
  const Observation rates = only(joint, "specdec-bench");
  CHECK(rates.decoding == Decoding::speculative);
  CHECK(rates.gamma == 2);
  CHECK(*rates.acceptance_length == near(2.1));
  CHECK_FALSE(rates.acceptance);
  CHECK_FALSE(warns(read_log(joint), "W10"));
  const Observation conditional =
      only(R"({"Output TPS": 90.0, "Conditional_Acceptance_Rate": {"1": 1.0, "2": 0.7, "3": 0.5}})", "specdec-bench");
  CHECK(*conditional.acceptance_length == near(1.0 + 0.7 + 0.35));
  CHECK(conditional.times.output_tokens_per_s == 90.0);
  const std::string mean = R"({"Average_AL": 2.6, "Request_AL": {"1": {"0": 2.6}}})";
  CHECK(only(mean, "specdec-bench").acceptance_length == 2.6);
  CHECK_FALSE(only(mean, "specdec-bench").gamma);
  CHECK(warns(read_log(mean), "W10"));
  const Observation timing =
      only(R"({"Output TPS": 90.0, "Request Generation Step Time": {"mean": "0.025"}})", "specdec-bench");
  CHECK(timing.decoding == Decoding::unknown);
  CHECK(timing.times.iteration_ms == near(25.0));
  CHECK_FALSE(timing.times.ttft_ms);
  check_resembles(R"({"Average_AL": 2.6})", "specdec-bench");
  check_resembles(R"({"Output TPS": 90.0})", "specdec-bench");
}

TEST_CASE("specdec_bench: rates that rise or exceed 1, and lengths below 1, are rejected") {
  CHECK(problem(R"({"Average_AL": 2.6, "Joint_Acceptance_Rate": {"1": 1.0, "2": 0.4, "3": 0.7}})") ==
        "some.log:1: Joint_Acceptance_Rate.3: 0.7");
  CHECK(problem(R"({"Average_AL": 2.6, "Conditional_Acceptance_Rate": {"1": 1.0, "2": 1.4}})") ==
        "some.log:1: Conditional_Acceptance_Rate.2: 1.4");
  CHECK(problem(R"({"Average_AL": 0.6, "Request_AL": {}})") == "some.log:1: Average_AL: 0.6");
  CHECK(problem(R"({"Acceptance_Length_Histogram": {"1": 5, "2": null}})").find("Acceptance_Length_Histogram.2") !=
        std::string::npos);
}

TEST_CASE("speed-bench: a part is known by any two keys, and a row without speed has no time") {
  const Observation run =
      only(R"({"summary": [{"category": "overall", "avg_pred_t_s": 50.0}], "results": null})", "speed-bench");
  CHECK(run.times.tpot_ms == 20.0);
  CHECK_FALSE(run.requests);
  CHECK_FALSE(run.stratum.category);
  const Observation row =
      only(R"({"failed_samples": 1, "completed_samples": 3, "summary": [{"category": "code"}]})", "speed-bench");
  CHECK_FALSE(row.times.tpot_ms);
  CHECK(row.stratum.category == "code");
  CHECK(warns(read_log(R"({"failed_samples": 1, "completed_samples": 3, "summary": []})"), "W19"));
  check_resembles(R"({"selected_samples": 4})", "speed-bench");
  check_resembles(R"({"summary": [{"avg_pred_t_s": 50.0}]})", "speed-bench");
}

TEST_CASE("speed-bench: requests with the sums over their turns, drafts of none make a plain run") {
  Json file = {{"config", {{"concurrency", 2}}},
               {"selected_samples", 2},
               {"results",
                {{{"category", "code"},
                  {"ok", true},
                  {"turns", 2},
                  {"prompt_tokens", 60},
                  {"completion_tokens", 102},
                  {"predicted_ms", 2000.0},
                  {"draft_n", 80},
                  {"draft_n_accepted", 60}},
                 {{"category", "code"}, {"ok", false}, {"turns", 1}, {"completion_tokens", 0}, {"draft_n", 0}}}}};
  const Observation request = only(file.dump(), "speed-bench");
  CHECK(request.span == logs::Span::request);
  CHECK(request.requests == 2.0);
  CHECK(*request.times.tpot_ms == near(20.0));  // 100 tokens after the first of each turn
  CHECK(*request.times.iteration_ms == near(50.0));
  REQUIRE(request.acceptance);
  CHECK(request.acceptance->steps == 40);
  CHECK(request.acceptance->accepted_tokens == 60);
  CHECK(request.stratum.output_tokens == 51.0);
  CHECK(request.stratum.context_tokens == 55.5);
  file["results"][0]["draft_n"] = 0;
  file["results"][0]["draft_n_accepted"] = 0;
  CHECK(only(file.dump(), "speed-bench").decoding == Decoding::plain);
  file["results"][0]["draft_n"] = nullptr;
  file["results"][1]["draft_n"] = nullptr;
  CHECK(only(file.dump(), "speed-bench").decoding == Decoding::unknown);
}

TEST_CASE("GuideLLM: a part is known by any two keys, as a report or as one of its benchmarks") {
  const Observation run =
      only(R"({"benchmarks": [{"metrics": {"inter_token_latency_ms": {"successful": {"mean": 15.0}}}}]})", "guidellm");
  CHECK(run.times.tpot_ms == 15.0);
  CHECK(run.decoding == Decoding::unknown);
  CHECK_FALSE(run.concurrency);
  CHECK_FALSE(run.completed_requests);
  const Observation one =
      only(R"({"args": {"strategy": {"type_": "concurrent", "streams": 4}}, "metrics": {"output_tokens_per_second": )"
           R"({"successful": {"mean": 200.0}}}})",
           "guidellm");
  CHECK(one.concurrency == 4.0);
  CHECK(one.times.output_tokens_per_s == 200.0);
  check_resembles(R"({"metrics": {"inter_token_latency_ms": {"successful": {"mean": 15.0}}}})", "guidellm");
  check_resembles(R"({"benchmarks": [{"name": "sort", "real_time": 12.0}]})", "guidellm");
}

TEST_CASE("llama-bench: a test is known by any two keys, and without both lengths prefill may be in its time") {
  const Observation test = only(R"({"n_prompt": 0, "avg_ts": 50.0})", "llama-bench");
  CHECK(test.times.tpot_ms == 20.0);
  CHECK_FALSE(test.stratum.output_tokens);
  CHECK_FALSE(test.stratum.context_tokens);
  const LogContents mixed = read_log(R"({"n_gen": 128, "avg_ts": 50.0})");
  CHECK(mixed.observations.empty());
  CHECK(warns(mixed, "W12"));
  check_resembles(R"({"avg_ts": 50.0})", "llama-bench");
  const Observation step = only(R"({"pl": 4, "speed_tg": 200.0})", "llama-batched-bench");
  CHECK(step.times.iteration_ms == near(20.0));
  CHECK(step.requests == 4.0);
  CHECK_FALSE(step.stratum.context_tokens);
  CHECK_FALSE(only(R"({"pl": 4, "t_tg": 2.0})", "llama-batched-bench").times.iteration_ms);
  check_resembles(R"({"speed_tg": 200.0})", "llama-batched-bench");
}

TEST_CASE("llama-server answers: a request is known by its tokens and any other key") {
  const Observation request = only(R"({"predicted_n": 101, "predicted_per_second": 50.5})", "llamacpp-timings");
  CHECK(*request.times.tpot_ms == near(20.0));  // 2 s for 100 tokens after the first
  CHECK_FALSE(request.stratum.context_tokens);
  CHECK_FALSE(request.times.ttft_ms);
  const Observation drafts = only(R"({"predicted_n": 101, "predicted_ms": 2000.0, "draft_n": 90})", "llamacpp-timings");
  CHECK(drafts.decoding == Decoding::speculative);
  CHECK_FALSE(drafts.acceptance);  // the number of accepted drafts is unknown, not zero
  CHECK_FALSE(drafts.times.iteration_ms);
  check_resembles(R"({"predicted_n": 101})", "llamacpp-timings");
}

TEST_CASE("TensorRT-LLM iterations: without the numbers of requests neither steps nor times of decoding are known") {
  const Observation row =
      only(R"({"iterLatencyMS": 20.0, "specDecodingStats": {"acceptanceLength": 2.5, "numDraftTokens": 24}})",
           "trtllm-iterations");
  CHECK(row.decoding == Decoding::speculative);
  CHECK(row.acceptance_length == 2.5);
  CHECK_FALSE(row.acceptance);
  CHECK_FALSE(row.gamma);
  CHECK_FALSE(row.requests);
  CHECK_FALSE(row.times.iteration_ms);
  const Observation part =
      only(R"({"iterLatencyMS": 20.0, "inflightBatchingStats": {"numContextRequests": 0, "numGenRequests": 8}})",
           "trtllm-iterations");
  CHECK(part.decoding == Decoding::unknown);
  CHECK(part.times.iteration_ms == 20.0);
  CHECK(part.requests == 8.0);
  check_resembles(R"({"iterLatencyMS": 20.0})", "trtllm-iterations");
}

TEST_CASE("ik_llama.cpp spec-bench and speculation profiles: parts of a row, a length without counts") {
  const Observation row =
      only(R"({"timing": {"decode_s": 2.0}, "tokens": {"generated": 100}, "speculative": {"acceptance_length": 2.5}})",
           "ik-spec-bench");
  CHECK(row.decoding == Decoding::speculative);
  CHECK(row.acceptance_length == 2.5);
  CHECK(*row.times.tpot_ms == near(20.0));
  CHECK_FALSE(row.times.iteration_ms);
  CHECK(only(R"({"row_type": "attempt", "timing": {"decode_s": 2.0}})", "ik-spec-bench").decoding == Decoding::unknown);
  check_resembles(R"({"row_type": "attempt"})", "ik-spec-bench");
  const Observation profile =
      only(R"({"num_speculative_tokens": 3, "mean_accept_length": 2.5})", "speculation-profile");
  CHECK(profile.gamma == 3);
  CHECK(profile.acceptance_length == 2.5);
  CHECK(problem(R"({"num_speculative_tokens": 3, "mean_accept_length": 4.5})") ==
        "some.log:1: mean_accept_length: 4.5");
  check_resembles(R"({"mean_accept_length": 2.5})", "speculation-profile");
}

TEST_CASE("answers and SpecForge: steps, tokens, times and trees that are absent are not known") {
  const Observation timed =
      only(R"({"question_id": 1, "choices": [{"new_tokens": [100], "wall_time": [2.0]}]})", "answers");
  CHECK(timed.decoding == Decoding::unknown);
  CHECK_FALSE(timed.acceptance);
  CHECK(timed.times.output_tokens_per_s == 50.0);
  const Observation counted = only(R"({"question_id": 1, "choices": [{"accept_lengths": [3, 1]}]})", "answers");
  CHECK(counted.decoding == Decoding::speculative);
  REQUIRE(counted.acceptance);
  CHECK(counted.acceptance->steps == 2);
  CHECK_FALSE(counted.times.duration_s);
  CHECK_FALSE(counted.stratum.output_tokens);
  check_resembles(R"({"choices": [{"new_tokens": [100]}]})", "answers");
  const Observation tree = only(
      R"({"model": "lab/head", "gsm": [{"steps": 3, "num_draft_tokens": 4, "metrics": [{"accept_length": 2.4}]}]})",
      "specforge");
  CHECK(tree.decoding == Decoding::speculative);
  CHECK(tree.acceptance_length == 2.4);
  CHECK_FALSE(tree.gamma);  // with a tree it would not be the depth
  CHECK_FALSE(tree.requests);
  check_resembles(R"({"model": "lab/head", "gsm": [{"batch_size": 3}]})", "specforge");
}

TEST_CASE("records of scripts and load generators: a length or drafts alone, and no length below 1") {
  const Observation drafts = only(R"({"spec_num_drafts": 40, "throughput_tok_s": 90.0})", "benchmark-records");
  CHECK(drafts.decoding == Decoding::speculative);
  CHECK_FALSE(drafts.acceptance);
  CHECK_FALSE(drafts.gamma);
  CHECK(problem(R"({"accepted_length_tau": 0.5, "throughput_tok_s": 90.0})") == "some.log:1: accepted_length_tau: 0.5");
  CHECK(problem(R"({"spec_decode_acceptance_length": 0.5, "mean_tpot_ms": 10.0})") ==
        "some.log:1: spec_decode_acceptance_length: 0.5");
}

TEST_CASE("a value of any key that is absent, null, a word or negative is rejected by name or not known") {
  for (const char* name : {"trtllm_bench.json",
                           "acceptance_rate.json",
                           "timing.json",
                           "speed_bench.json",
                           "guidellm.json",
                           "llama_bench.json",
                           "llama_batched_bench.jsonl",
                           "llama_server_answers.jsonl",
                           "ik_spec_bench.jsonl",
                           "speculation_profile.json",
                           "eagle_answers.jsonl",
                           "spec_bench.jsonl",
                           "specforge_dashboard.json",
                           "bench_eagle3.jsonl",
                           "aiperf_run.json",
                           "aiperf_records.jsonl",
                           "benchmark_records.jsonl",
                           "vllm_bench.jsonl",
                           "vllm_requests.jsonl",
                           "sglang_requests.json",
                           "trtllm_requests.json",
                           "llama_benchy.json",
                           "prompt_records.json"}) {
    INFO(name);
    const Json document = whole_or_row(sample(name), "\"draft");
    REQUIRE(reading_of(document).text);
    std::vector<Json::json_pointer> members;
    add_members(document, Json::json_pointer(), members);
    CHECK(members.size() > 8);
    for (const Json::json_pointer& key : members) {
      check_value(document, key, nullptr);
      const Json& value = document.at(key);
      if (!value.is_boolean()) check_value(document, key, true);
      const bool is_name = key.back() == "build_number" || key.back() == "spec_types" || key.back() == "question_id";
      if (!is_name && (is_number(value) || value.is_structured())) {
        check_value(document, key, "many");
        check_value(document, key, -1.0);
      }
      if (parse_integer(key.back())) continue;  // of a histogram: an absent length did not occur
      Json without = document;
      without.at(key.parent_pointer()).erase(key.back());
      const Reading absent = reading_of(without);
      without = document;
      without[key] = nullptr;
      INFO(key.to_string());
      // Without a key of its format it may be read as anybody's record.
      if (absent.text && absent.text->find(R"("format":"table")") == std::string::npos)
        CHECK(absent.text == reading_of(without).text);
    }
  }
}

TEST_CASE("a document over many lines is read up to where its end was cut off, and from where its beginning was") {
  const std::string text = Json::parse(R"({"date": "20261001", "max_concurrency": 8, "completed": 100, "duration": 10.5,
    "output_throughput": 812.5, "mean_tpot_ms": 9.25, "mean_itl_ms": 24.5, "spec_decode_num_drafts": 4000,
    "spec_decode_draft_tokens": 8000, "spec_decode_accepted_tokens": 6400,
    "spec_decode_per_position_acceptance_rates": [0.9, 0.7], "note": "end"})")
                               .dump(2);
  const auto at = [&](std::string_view key) { return text.find(key); };
  const Observation whole = only(text + "\n", "vllm-bench");
  for (const std::string_view end : {"\"note\"", "e\": \"end", "\"end", "0.7"}) {
    CAPTURE(end);
    const Observation cut = only(text.substr(0, at(end)), "vllm-bench");
    CHECK(cut.acceptance->steps == 4000);
    CHECK(cut.times.tpot_ms == whole.times.tpot_ms);
    CHECK(cut.concurrency == 8.0);
  }
  for (const std::string_view begin : {"\"date\"", "  \"duration\"", "\"output_throughput\""}) {
    CAPTURE(begin);
    const Observation cut = only(text.substr(at(begin)), "vllm-bench");
    CHECK(cut.acceptance->accepted_at == std::vector<std::int64_t>{3600, 2800});
    CHECK(cut.times.tpot_ms == whole.times.tpot_ms);
    CHECK(cut.line == 1);
  }
  const Observation both = only("\n" + text.substr(at("\"duration"), at("\"note") - at("\"duration")), "vllm-bench");
  CHECK(both.acceptance->accepted_tokens == 6400);
}

TEST_CASE("a list that was cut off keeps its complete records, without a number at the cut") {
  const std::string records =
      "[\n  {\n    \"concurrency\": 8,\n    \"num_speculative_tokens\": 3,\n    \"accepted_length_tau\": 2.5,\n"
      "    \"throughput_tok_s\": 400\n  },\n  {\n    \"concurrency\": 16,\n    \"num_speculative_tokens\": 3,\n"
      "    \"accepted_length_tau\": 2.4,\n    \"throughput_tok_s\": 7";
  const LogContents cut = read_log(records);
  CHECK(cut.format == "benchmark-records");
  REQUIRE(cut.observations.size() == 1);
  CHECK(cut.observations[0].concurrency == 8.0);
  // The first record lacks its bracket.
  const LogContents begun = read_log(records.substr(records.find("\"num_spec")));
  REQUIRE(begun.observations.size() == 2);
  CHECK(begun.observations[0].acceptance_length == 2.5);
  CHECK_FALSE(begun.observations[0].concurrency);
  CHECK(begun.observations[0].times.output_tokens_per_s == 400.0);
  CHECK(begun.observations[1].acceptance_length == 2.4);
  CHECK_FALSE(begun.observations[1].times.output_tokens_per_s);
  CHECK(message_of("\"a\": 1,\n\"b\": 2\n}\n").find("no line of a known format") != std::string::npos);
}

TEST_CASE("vLLM's length and rate of acceptance say how many tokens are drafted, if that is a whole number") {
  const Observation run =
      only(R"({"spec_decode_acceptance_length": 2.4, "spec_decode_acceptance_rate": 46.7})", "vllm-bench");
  CHECK(run.decoding == Decoding::speculative);
  CHECK(run.acceptance_length == 2.4);
  CHECK(run.gamma == 3);
  CHECK_FALSE(
      only(R"({"spec_decode_acceptance_length": 2.4, "spec_decode_acceptance_rate": 40.0})", "vllm-bench").gamma);
}

}  // namespace foredraft::tests
