// SPDX-License-Identifier: Apache-2.0
#include "answers/load_prediction.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "answers/load_server.hpp"
#include "app/texts/texts.hpp"
#include "inputs/devices.hpp"
#include "tests/latency/surfaces/modelled_profile.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/schema_check.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::answers {
namespace {

using tests::foredraft;
using tests::TemporaryFolder;

LoadQuestion llama_load(double requests_per_s) {
  return {.pair = {.target = "llama-3.1-8b", .draft = "llama-3.2-1b", .acceptance = Iid{0.75}, .gamma = 4},
          .source = "h100",
          .arrivals = {.kind = ArrivalKind::poisson, .rate_per_s = requests_per_s},
          .prompt = {.tokens = 1000.0},
          .output = {.tokens = 200.0},
          .engine = latency::no_engine()};
}

/// A closed loop of this many users.
LoadQuestion users(std::int64_t clients) {
  LoadQuestion question = llama_load(1.0);
  question.arrivals = {.kind = ArrivalKind::closed, .clients = clients};
  question.prompt.tokens = 3000.0;
  question.output.tokens = 500.0;
  question.percentiles = false;
  return question;
}

LoadPrediction predicted(const LoadQuestion& question) {
  return predict_load(question, inputs::read_device("h100").profile);
}

const std::string llama = "predict --device h100 --target llama-3.1-8b --draft llama-3.2-1b --alpha 0.75 ";
const std::string load = "--request-rate 10 --prompt-tokens 1000 --output-tokens 200 ";
const std::string of_operators =
    "predict --profile h100-vllm-llama-3.1-8b --target llama-3.1-8b --draft eagle3-llama-3.1-8b --alpha 0.75 ";
const std::string two_gpus =
    "predict --device h100 --target llama-3.3-70b --draft llama-3.2-1b --alpha 0.75 --target-tp 2 --draft-tp 2 ";

/// The document of --json, which follows its schema.
nlohmann::ordered_json load_document(const TemporaryFolder& folder, const std::string& arguments) {
  INFO(arguments);
  const auto schema =
      nlohmann::ordered_json::parse(tests::content_of(FOREDRAFT_SOURCE "/docs/schemas/predict.load.schema.json"));
  const tests::Outcome outcome = foredraft(folder, arguments + " --json");
  REQUIRE(outcome.code == 0);
  const auto document = nlohmann::ordered_json::parse(outcome.out);
  tests::check_against(schema, schema, document, "");
  return document;
}

std::string load_problem(const std::string& arguments) {
  const TemporaryFolder folder;
  const tests::Outcome outcome = foredraft(folder, arguments);
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  return outcome.err;
}

}  // namespace

TEST_CASE("at one rate fewer requests are in flight with speculation than without it") {
  const LoadPrediction prediction = predicted(llama_load(10.0));
  REQUIRE(prediction.lengths.size() == 5);
  const AtLoad& used = prediction.lengths[3];
  CHECK(used.equilibrium.batch < 0.8 * prediction.plain().equilibrium.batch);
  CHECK(used.served->mean_batch.mean < 0.8 * prediction.plain().served->mean_batch.mean);
  // Little's law: at the same rate, times are proportional to the numbers in the system.
  constexpr double noise = 0.1;
  const double in_system = prediction.plain().served->mean_in_system.mean / used.served->mean_in_system.mean;
  CHECK(used.speedup->request == Approx(in_system).epsilon(noise));
  // The first token is not faster: two models read the prompt.
  CHECK(used.speedup->request < used.speedup->decode);
  CHECK(used.served->first_token_ms.mean > prediction.plain().served->first_token_ms.mean);
  CHECK(used.tokens == Approx(1.0 + 0.75 + 0.75 * 0.75 + 0.75 * 0.75 * 0.75).epsilon(tests::second_route));
}

TEST_CASE("the best draft lengths are those of the shortest request time and of the most requests") {
  LoadQuestion question = llama_load(10.0);
  question.objective = {.ttft_ms = 500.0, .tpot_ms = 15.0};
  question.gpu_hour_price = 3.6;
  const LoadPrediction prediction = predicted(question);
  for (const AtLoad& at : prediction.lengths) {
    CAPTURE(at.gamma);
    const AtLoad& fastest = prediction.lengths[static_cast<std::size_t>(*prediction.best_latency)];
    const AtLoad& fullest = prediction.lengths[static_cast<std::size_t>(*prediction.best_throughput)];
    constexpr double tie = 0.005;  // goes to the smaller gamma
    CHECK(at.equilibrium.request_us >= (1.0 - tie) * fastest.equilibrium.request_us);
    CHECK(at.requests_per_s_per_gpu <= (1.0 + tie) * fullest.requests_per_s_per_gpu);
    // 3.6 an hour is 0.001 a second, in which 10 requests of 200 tokens are answered.
    CHECK(*at.cost_per_million == Approx(0.001 / (10.0 * 200.0) * 1e6).epsilon(tests::second_route));
    CHECK(at.requests_per_s_per_gpu < at.equilibrium.capacity_per_s);
    CHECK(at.meets_objective == (at.served->tpot_p99_ms.mean <= 15.0));
  }
  CHECK(prediction.shown()->gamma == 4);
}

TEST_CASE("the most requests within an objective meet it, and a little more do not", "[long]") {
  LoadQuestion question = llama_load(10.0);
  question.pair.gamma = 1;
  question.objective = {.ttft_ms = {}, .tpot_ms = 12.0};
  const AtLoad at_first = predicted(question).plain();
  question.arrivals.rate_per_s = at_first.requests_per_s_per_gpu;
  const AtLoad at_most = predicted(question).plain();
  CHECK(at_most.meets_objective == true);
  CHECK(at_most.served->tpot_p99_ms.mean <= 12.0);
  question.arrivals.rate_per_s += at_first.equilibrium.capacity_per_s / 128.0;
  const AtLoad beyond = predicted(question).plain();
  CHECK(beyond.meets_objective == false);
  CHECK(beyond.served->tpot_p99_ms.mean > 12.0);
  question.objective = {.ttft_ms = {}, .tpot_ms = 1.0};
  const LoadPrediction none = predicted(question);
  CHECK(none.plain().requests_per_s_per_gpu == 0.0);
  CHECK_FALSE(none.best_throughput);
}

TEST_CASE("memory bounds the batch, and without a draft model it holds more", "[long]") {
  LoadQuestion question = llama_load(2.0);
  question.pair.memory_utilization = 0.4;
  const LoadPrediction prediction = predicted(question);
  CHECK(prediction.plain().limit == BatchLimit::memory);
  const latency::Profile h100 = inputs::read_device("h100").profile;
  const auto limit = latency::memory_limit(h100, timed_pair_of(question.pair, h100), question.pair.drafting, 0.4);
  CHECK(prediction.lengths[2].max_batch == limit->max_batch(3, 1200));
  CHECK(prediction.plain().max_batch > prediction.lengths[2].max_batch);
  question.pair.ignore_memory = true;
  CHECK(predicted(question).plain().max_batch == 256);
  question.pair.ignore_memory = false;
  question.pair.memory_utilization = 0.1;
  const LoadPrediction none = predicted(question);
  CHECK(none.plain().max_batch == 0);
  CHECK_FALSE(none.best_latency);
  CHECK_THAT(app::to_text(none), Catch::Contains("Does not fit into memory"));
}

TEST_CASE("a rate that no batch sustains has no answer, and the maximum rate is given") {
  const LoadPrediction prediction = predicted(llama_load(500.0));
  CHECK_FALSE(prediction.best_latency);
  for (const AtLoad& at : prediction.lengths) {
    CHECK(at.equilibrium.overloaded);
    CHECK_FALSE(at.served);
    CHECK_FALSE(at.speedup);
    CHECK(at.requests_per_s_per_gpu == at.equilibrium.capacity_per_s);
  }
  CHECK_THAT(app::to_text(prediction),
             Catch::Contains("At 500 requests/s the server is overloaded with every draft length"));
}

TEST_CASE("an interval covers slower and faster verifications, and 1 is within the error") {
  const LoadPrediction prediction = predicted(llama_load(10.0));
  for (const AtLoad& at : prediction.lengths) {
    if (at.gamma == 0) continue;
    CAPTURE(at.gamma);
    REQUIRE(at.request_interval);
    CHECK(at.request_interval->low < at.speedup->request);
    CHECK(at.request_interval->high > at.speedup->request);
    CHECK(at.decode_interval->low < at.speedup->decode);
    CHECK(at.decode_interval->high > at.speedup->decode);
  }
  CHECK(prediction.evidence.name == "data sheet");
  CHECK(prediction.evidence.interval_level == 0.90);
  // The range holds 90 %, which of a normal distribution lie within 1.645 standard deviations.
  const latency::Range& ratio = prediction.decoding.attainable->verification;
  constexpr double printed = 1e-3;
  CHECK(*prediction.evidence.ratio_error * 1.645 ==
        Approx((ratio.high - ratio.low) / (2.0 * ratio.value)).epsilon(printed));
  LoadQuestion unsure = llama_load(10.0);
  unsure.pair.gamma = 1;
  unsure.pair.acceptance = Iid{0.55};
  CHECK_THAT(app::to_text(predicted(unsure)),
             Catch::StartsWith("At 10 requests/s it is not certain that speculation pays: K = 1 gives "));
}

TEST_CASE("closed-loop users get the same ratio of request times and of throughputs") {
  const LoadPrediction prediction = predicted(users(40));
  for (const AtLoad& at : prediction.lengths) {
    CAPTURE(at.gamma);
    CHECK_FALSE(at.served);
    CHECK(at.equilibrium.in_flight == Approx(40.0).epsilon(tests::second_route));
    if (at.gamma == 0) continue;
    const double throughput = at.equilibrium.requests_per_s / prediction.plain().equilibrium.requests_per_s;
    CHECK(at.speedup->request == Approx(throughput).epsilon(tests::second_route));
    // Prompts take the same time without and with speculation, and more for the drafter: the gain is less than that of
    // a full batch of decode steps alone.
    ProfileQuestion decoding = prediction.question.pair;
    decoding.batches = {40};
    decoding.contexts = {3250};
    const ProfilePrediction alone = predict(decoding, inputs::read_device("h100").profile);
    CHECK(at.speedup->request < alone.cells.front().at(at.gamma).speedup);
  }
}

TEST_CASE("an unnamed engine widens the interval, and its host time lowers the gain") {
  const LoadPrediction without = predicted(users(16));
  LoadQuestion question = users(16);
  question.engine->host_us = {.low = 4000.0, .value = 5000.0, .high = 6000.0};
  const LoadPrediction named = predicted(question);
  question.engine.reset();
  const LoadPrediction any = predicted(question);
  const auto width = [](const AtLoad& at) { return at.request_interval->high / at.request_interval->low; };
  for (std::size_t gamma = 1; gamma < without.lengths.size(); ++gamma) {
    CAPTURE(gamma);
    // The same time is added to a decode step and to an iteration.
    CHECK(named.lengths[gamma].equilibrium.iteration_us > without.lengths[gamma].equilibrium.iteration_us + 4999.0);
    question.engine = latency::common_engines().front();
    CHECK(width(any.lengths[gamma]) >= width(predicted(question).lengths[gamma]));
  }
}

TEST_CASE("if a common engine would be overloaded, no choice is certain") {
  LoadQuestion question = llama_load(1.0);
  question.percentiles = false;
  question.max_batch = 8;
  const auto under = [&](const char* engine) {
    question.engine = *latency::find_engine(engine);
    return predicted(question);
  };
  const double slow = under("sglang").at(1).equilibrium.capacity_per_s;
  question.arrivals.rate_per_s = 1.01 * slow;
  REQUIRE(under("vllm").at(1).request_interval);
  REQUIRE(under("vllm").at(1).request_interval->low > 0.0);
  question.engine.reset();
  const LoadPrediction any = predicted(question);
  REQUIRE(any.at(1).request_interval);
  CHECK(any.at(1).request_interval->low == 0.0);
  CHECK(any.at(1).decode_interval->low == 0.0);
}

TEST_CASE("a server that may be overloaded only without speculation leaves no doubt that it pays") {
  LoadQuestion question = llama_load(1.0);
  question.percentiles = false;
  question.max_batch = 4;
  question.engine = *latency::find_engine("vllm");
  question.arrivals.rate_per_s = 0.98 * predicted(question).plain().equilibrium.capacity_per_s;
  const LoadPrediction nearly = predicted(question);
  REQUIRE(nearly.at(4).speedup);
  CHECK(nearly.at(4).request_interval->low > 1.0);
  CHECK(payoff_of(nearly) == Payoff::pays);
}

TEST_CASE("loads for figures ascend, and at the requested one the answer is the same") {
  const auto predictions = predict_loads(users(16), inputs::read_device("h100").profile);
  REQUIRE(predictions.size() >= 8);
  for (std::size_t i = 1; i < predictions.size(); ++i) {
    CHECK(predictions[i].question.arrivals.clients > predictions[i - 1].question.arrivals.clients);
    CHECK(predictions[i].plain().equilibrium.requests_per_s > predictions[i - 1].plain().equilibrium.requests_per_s);
  }
  CHECK(predictions[4].question.arrivals.clients == 16);
  CHECK(predictions[4].at(3).speedup->request == predicted(users(16)).at(3).speedup->request);
}

TEST_CASE("one token budget gains if requests differ, and almost nothing if they are equal") {
  LoadQuestion question = users(128);  // enough that every verified token takes time
  question.pair.gamma.reset();
  const double alike = predicted(question).adaptive_gain.value();
  CHECK(alike >= 1.0);
  constexpr double one_layer = 0.02;
  CHECK(alike < 1.0 + one_layer);
  question.pair.acceptance = BetaMixture{.a = 0.75, .b = 0.25};  // mostly near 0 or 1
  CHECK(predicted(question).adaptive_gain.value() > 1.0 + one_layer);
  question.pair.acceptance = Runs{.a = 0.8, .b = 0.5, .spread = 0.5, .rho = 1.0};
  CHECK_FALSE(predicted(question).adaptive_gain);
}

TEST_CASE("a schedule is compared with the draft lengths, and one range is that draft length") {
  LoadQuestion question = users(16);
  question.schedule = {{1, 16, 3}, {17, 17, 0}};
  const LoadPrediction prediction = predicted(question);
  REQUIRE(prediction.scheduled);
  CHECK(prediction.scheduled->gamma == 3);
  question.schedule = {{1, 16, 3}};
  const LoadPrediction one = predicted(question);
  CHECK(one.scheduled->speedup->request == Approx(one.at(3).speedup->request).epsilon(tests::second_route));
}

TEST_CASE("evidence names the source of the times, with the error seen for that source") {
  const auto evidence = [](latency::Source source, std::optional<double> spread) {
    ProfilePrediction prediction{.question = {}, .device = "made up", .source = source};
    prediction.cells.resize(1);
    prediction.cells.front().plain = {.time_us = 1000.0, .spread = spread};
    return evidence_of(prediction);
  };
  const Evidence measured = evidence(latency::Source::measured, 0.013);
  CHECK(measured.name == "measured here");
  CHECK(measured.interval_level == 0.95);
  CHECK_THAT(measured.error, Catch::Contains("+- 1.3 % (95 %)"));
  const Evidence of_user = evidence(latency::Source::user, {});
  CHECK(of_user.name == "engine");
  CHECK_FALSE(of_user.interval_level);
  CHECK_THAT(of_user.error, Catch::Contains("not known"));
  CHECK(evidence(latency::Source::engine, 0.1).name == "engine");
  LoadQuestion question = llama_load(8.0);
  question.pair.draft = "eagle3-llama-3.1-8b";
  question.prompts = latency::PromptSheet{inputs::read_device("h100").profile, {}};
  const latency::Profile operators = inputs::read_profile("h100-vllm-llama-3.1-8b").profile;
  const Evidence seen = predict_load(question, operators).evidence;
  CHECK(seen.name == "operators");
  CHECK_THAT(seen.error, Catch::Contains(operators.step_error.origin));
}

TEST_CASE("a profile without timed prompts takes them from a data sheet") {
  const latency::Profile sheet = inputs::read_device("h100").profile;
  const latency::PairSurface prompts{sheet,
                                     latency::model_registry(),
                                     "llama-3.1-8b",
                                     "llama-3.2-1b",
                                     latency::Role::autoregressive_drafting,
                                     latency::SheetPair{.attainable = latency::attainable_of(sheet)}};
  const latency::Profile other = inputs::read_device("a100-80gb").profile;
  const latency::PairSurface steps{other,
                                   latency::model_registry(),
                                   "llama-3.1-8b",
                                   "llama-3.2-1b",
                                   latency::Role::autoregressive_drafting,
                                   latency::SheetPair{.attainable = latency::attainable_of(other)}};
  const auto times = latency::surface_times(
      other, "a100",
      {.target = "llama-3.1-8b",
       .draft = "llama-3.2-1b",
       .models = latency::model_registry(),
       .sheet = latency::SheetPair{.attainable = latency::attainable_of(other)},
       .prompts = latency::PromptSheet{sheet, latency::SheetPair{.attainable = latency::attainable_of(sheet)}}},
      AutoregressiveDrafter{});
  const StepShape prompt{.batch = 2, .tokens = 700, .context = 0.0, .prompt = true};
  CHECK(times->target_us(prompt, Convention::bonus) == prompts.target_pass(700, 2, 0, true).time_us);
  CHECK(times->drafter_us(prompt) == prompts.drafter_pass(700, 2, 0, true).time_us);
  const StepShape step{.batch = 2, .tokens = 1, .context = 700.0};
  CHECK(times->target_us(step, Convention::bonus) == steps.target_pass(1, 2, 700).time_us);
  CHECK(times->drafter_us(step) == steps.drafting(1, 2, 700).time_us);
}

TEST_CASE("a measured profile answers at a load within its measured range") {
  latency::Profile profile =
      latency::tests::modelled_profile(latency::tests::known_model, {"llama-2-7b", "sheared-llama-1.3b"}, 0.0);
  for (latency::StepRow& row : profile.steps) row.cell.context -= 128;  // of its shortest
  const LoadQuestion question{
      .pair = {.target = "llama-2-7b", .draft = "sheared-llama-1.3b", .acceptance = Iid{0.8}, .gamma = 2},
      .source = "modelled",
      .arrivals = {.kind = ArrivalKind::poisson, .rate_per_s = 1.0},
      .prompt = {.tokens = 8.0},
      .output = {.tokens = 40.0},
      .engine = latency::no_engine()};
  const LoadPrediction prediction = predict_load(question, profile);
  CHECK(prediction.evidence.name == "measured here");
  CHECK(prediction.evidence.interval_level == 0.95);
  std::int64_t largest = 0;
  for (const latency::StepRow& row : profile.steps) largest = std::max(largest, row.cell.batch);
  for (const AtLoad& at : prediction.lengths) {
    CHECK(at.answers());
    CHECK(at.limit == BatchLimit::times);
    CHECK(at.max_batch == largest);
  }
}

TEST_CASE("the document of an answer at a load follows its schema at every load", "[long]") {
  const TemporaryFolder folder;
  const auto served = load_document(folder, llama + load + "--slo-ttft-ms 500 --slo-tpot-ms 15 --gpu-hour-price 2.5");
  CHECK(served.at("best_gamma").at("cost") == served.at("best_gamma").at("throughput"));
  CHECK(served.at("acceptance").at("alpha") == 0.75);
  CHECK(load_document(folder, llama + load + "--gamma 2").at("gamma") == 2);
  CHECK(load_document(folder, of_operators + load + "--prompt-device h100").at("evidence").at("class") == "operators");
  CHECK(load_document(folder, llama + "--request-rate 500 --prompt-tokens 1000 --output-tokens 200")
            .at("gamma")
            .is_null());
  CHECK(load_document(folder, two_gpus + load).at("gpus") == 2);
  CHECK(load_document(folder, llama + load + "--target-format nvfp4").at("notes").size() == 1);
  CHECK(load_document(folder, llama + load + "--memory-utilization 0.1").at("gammas").at(0).at("fits") == false);
  const auto users = load_document(
      folder, llama +
                  "--concurrency 40 --prompt 3000 --prompt-p95 9k --output 500 --prefix-hit 0.5 --engine none "
                  "--closed-form --gpu-hour-price 2 --schedule [[1,8,3],[9,64,0]] --switch-ms 5");
  CHECK(users.at("concurrency") == 40);
  CHECK(users.at("requests_per_s").is_null());
  CHECK(users.at("prompt_p95") == 9000.0);
  CHECK(users.at("engine").at("named") == true);
  CHECK(users.at("schedule").at("ranges").at(1) == nlohmann::ordered_json{9, 64, 0});
  CHECK(users.at("schedule").at("switch_ms") == 5.0);
  for (const auto& at : users.at("gammas")) {
    CHECK(at.at("simulated").is_null());
    const auto& shares = at.at("closed_form").at("shares");
    CHECK(shares.at("verification").get<double>() + shares.at("drafting").get<double>() +
              shares.at("prompts").get<double>() + shares.at("engine").get<double>() ==
          Approx(1.0).epsilon(tests::second_route));
  }
}

TEST_CASE("no line of the answer at a load exceeds 100 columns, and its evidence follows the choice") {
  const TemporaryFolder folder;
  for (const std::string& arguments :
       {llama + load + "--slo-ttft-ms 500 --slo-tpot-ms 15 --gpu-hour-price 2.5 --gamma 3",
        of_operators + load + "--prompt-device h100", two_gpus + load, llama + load + "--memory-utilization 0.1",
        llama + "--concurrency 200 --prompt 3000 --output 500 --graph-sizes 64 --closed-form --prefix-hit 0.5",
        llama + "--concurrency 40 --prompt 3000 --output 500 --engine none --closed-form --gpu-hour-price 1000 "
                "--schedule [[1,8,3],[9,64,0]]"}) {
    const std::string text = foredraft(folder, arguments).out;
    CHECK((text.starts_with("At ") || text.starts_with("Does not fit")));
    CHECK_THAT(text, Catch::Contains("\nevidence    "));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
  }
}

TEST_CASE("a load without an answer says what to add or change") {
  CHECK_THAT(load_problem(llama + "--request-rate 10 --prompt 9 --output 9 --engine vlm"),
             Catch::Contains("did you mean vllm?"));
  CHECK_THAT(load_problem(of_operators + load), Catch::Contains("add --prompt-device D, a data sheet for the prompts"));
  CHECK_THAT(load_problem(of_operators + load + "--prompt-device h1000"), Catch::Contains("did you mean"));
}

TEST_CASE("the passes of an iteration take the time of a calibrated engine") {
  const LoadQuestion question = users(16);
  const latency::Profile profile = inputs::read_device("h100").profile;
  latency::Engine slower = latency::no_engine();
  slower.step = {.low = 2.0, .value = 2.0, .high = 2.0};
  const double us = LoadServers(question, profile, latency::no_engine()).iteration_us(8, 3000, 0, 1);
  CHECK(LoadServers(question, profile, slower).iteration_us(8, 3000, 0, 1) == Approx(2.0 * us).epsilon(tests::few_ulp));
}

}  // namespace foredraft::answers
