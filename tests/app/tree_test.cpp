// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analytic/tree/tree_search.hpp"
#include "answers/tree_answer.hpp"
#include "app/texts/texts.hpp"
#include "experiments/reproduce/registry.hpp"
#include "inputs/devices.hpp"
#include "inputs/tree_files.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tolerances.hpp"

namespace foredraft::app {
namespace {

TreeQuestion tree_question(std::int64_t nodes) {
  return {.accuracies = {{0.5, 0.25}, {0.5, 0.125}},
          .nodes = nodes,
          .depth = 2,
          .given = std::nullopt,
          .price = std::nullopt};
}

/// The output of the program; its exit code in `code`.
std::string output_of_tree(const std::string& arguments, int& code) {
  const std::string command = std::string(FOREDRAFT_PROGRAM) + " tree " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe)) text += static_cast<char>(letter);
  code = WEXITSTATUS(::pclose(pipe));
  return text;
}

}  // namespace

TEST_CASE("tree writes the answer first, then trees side by side, then the paths to paste") {
  // By hand: 1 + .5 + .25 + .25 + .125 (0,0 then 1,0); dense 2 x 1 has the same nodes; the chain 1 + .5 + .25.
  CHECK(to_text(best_tree(tree_question(5))) ==
        "2.1250 tokens per iteration with the best tree of 5 nodes, 2 deep.\n"
        "\n"
        "                                nodes  depth   tokens deviation\n"
        "best tree                           5      2   2.1250    0.7806\n"
        "best dense tree (2 x 1)             5      2   2.1250    0.7806\n"
        "chain of first candidates           3      2   1.7500    0.8292\n"
        "\n"
        "tokens    1: 25.0 %, 2: 37.5 %, 3: 37.5 %\n"
        "paths     [[0], [1], [0, 0], [1, 0]]\n"
        "assumes   a candidate's accuracy depends on its depth and rank only; the root, the target's own\n"
        "          token, counts as a node\n");
}

TEST_CASE("with a cost the tree of the greatest speedup is chosen, and its cost is shown") {
  TreeQuestion question = tree_question(7);
  question.price =
      TreePrice{.verification = analytic::linear_verification(7, 0.05), .c = 0.1, .drafting = Drafting::autoregressive};
  const TreeAnswer answer = best_tree(question);
  // Three nodes of depth 1: 1.75 / (1.1 + 0.1); four of depth 2: 2 / (1.15 + 0.2); five: 2.125 / 1.4, the greatest;
  // six: 2.1875 / 1.45.
  CHECK(answer.chosen.tree.size() == 5);
  CHECK(answer.chosen.speedup.value() == Approx(2.125 / 1.4).epsilon(tests::few_ulp));
  CHECK_THAT(to_text(answer),
             Catch::StartsWith("speedup 1.52x: an iteration yields 2.12 tokens with the best tree of 5 "
                               "nodes, 2 deep, and costs 1.40\ntarget steps.\n"));
  CHECK_THAT(to_text(answer), Catch::Contains("2.1250    0.7806     1.4000   1.5179x\n"));
  question.price->verification = analytic::linear_verification(7, 3.0);
  CHECK_THAT(to_text(best_tree(question)), Catch::StartsWith("speedup 1.00x: speculation does not pay.\n"));
}

TEST_CASE("the times of a device price trees by passes over their tokens and by drafts, worked by hand") {
  std::string steps = "model,role,batch,tokens,context,ms\n";
  for (int n = 1; n <= 7; ++n) steps += fmt::format("big,decoder_pass,2,{},100,{}\n", n, 10.0 + 0.5 * (n - 1));
  steps += "small,decoder_pass,2,1,100,1\nblock,block_drafting,2,1,100,1\nblock,block_drafting,2,2,100,1.5\n";
  const latency::Profile profile = inputs::parse_steps(steps, "steps.csv");
  answers::ProfileQuestion pair{.target = "big", .draft = "small", .batches = {2}, .contexts = {100}, .models = {}};
  TreeQuestion question = tree_question(7);
  question.price = answers::price_from_profile(profile, pair, 7, 2);
  // The tree of the test above, at the same costs: 2.125 tokens for 12 ms and two drafts of 1 ms.
  const TreeAnswer answer = best_tree(question);
  CHECK(answer.chosen.tree.size() == 5);
  CHECK(answer.chosen.speedup.value() == Approx(2.125 * 10.0 / 14.0).epsilon(tests::second_route));
  CHECK_THAT(to_text(answer),
             Catch::Contains("\ntimes     steps measured by a user, source user: big and small at batch 2, "
                             "context 100; sampling and\n          the engine's own time not in it\n"));
  pair.draft = "block";
  pair.drafting = latency::Role::block_drafting;
  const TreePrice block = answers::price_from_profile(profile, pair, 7, 2);
  CHECK(block.drafting == Drafting::block);
  CHECK(block.c == Approx(0.15).epsilon(tests::second_route));
  CHECK_THROWS_WITH(answers::price_from_profile(profile, pair, 8, 2), Catch::Contains("8 tokens and context 100"));
  pair.target = "bigger";
  CHECK_THROWS_WITH(answers::price_from_profile(profile, pair, 7, 2), Catch::Contains("unknown model \"bigger\""));
}

TEST_CASE("a tree is charged for the pass in which an engine's drafter reads the verified nodes") {
  std::string steps = "model,role,batch,tokens,context,ms\n";
  for (int n = 1; n <= 4; ++n) {
    steps += fmt::format("big,decoder_pass,1,{},100,{}\nsmall,decoder_pass,1,{},100,{}\n", n, 9 + n, n, 1.0 + 0.1 * n);
  }
  latency::Profile profile = inputs::parse_steps(steps, "steps.csv");
  const answers::ProfileQuestion pair{
      .target = "big", .draft = "small", .batches = {1}, .contexts = {100}, .models = {}};
  const std::vector<double> alone = answers::price_from_profile(profile, pair, 4, 2).verification;
  CHECK(alone.back() == Approx(13'000.0).epsilon(tests::second_route));
  profile.engine_loop = latency::EngineLoop{.draft_catch_up = latency::CatchUp::verified};
  const std::vector<double> in_loop = answers::price_from_profile(profile, pair, 4, 2).verification;
  CHECK(in_loop.front() == alone.front());
  CHECK(in_loop.at(1) == Approx(11'000.0 + 1'200.0).epsilon(tests::second_route));
  CHECK(in_loop.back() == Approx(13'000.0 + 1'400.0).epsilon(tests::second_route));
}

TEST_CASE("a given tree is compared with the best one of its size") {
  TreeQuestion question = tree_question(4);
  question.given = analytic::tree_from_paths(std::vector<analytic::TreePath>{{1}, {1, 0}, {1, 1}});
  const TreeAnswer answer = best_tree(question);
  CHECK(answer.chosen.tokens == 1.0 + 0.25 + 0.125 + 0.03125);
  CHECK(answer.best.value().tokens == 2.0);
  const auto json = answers::to_json(answer);
  CHECK(json["tree"] == "given");
  CHECK(json["best"]["tokens_per_iteration"] == 2.0);
  CHECK_THAT(to_text(answer), Catch::Contains("\nthis tree                           4"));
}

TEST_CASE("a tree that grows while drafting is compared with static ones at the same cost") {
  TreeQuestion question = tree_question(3);
  question.growth = TreeGrowth{.width = 2, .spread = 1.0, .iterations = 20'000};
  const TreeAnswer answer = best_tree(question);
  const DynamicTree& dynamic = answer.dynamic.value();
  CHECK(dynamic.static_tree.tokens == 1.75);
  CHECK(dynamic.depth == 2);
  // Of depth 1 two equal candidates with 1/2, one certain one with 1/4; of depth 2 these with 1/4 and 3/8.
  CHECK(dynamic.exact.value() == Approx(1.0 + 0.5 * 1.0 + 0.25 * (1.0 + 0.25 * 0.5 + 0.375)));
  CHECK(std::abs(dynamic.tokens.mean - *dynamic.exact) <= tests::standard_errors * dynamic.tokens.standard_error);
  CHECK(*dynamic.exact <= dynamic.bound);
  CHECK_FALSE(dynamic.speedup.has_value());
  const std::string text = to_text(answer);
  CHECK_THAT(text, Catch::Contains("\ndynamic (EAGLE-2), 2 wide           3      2   1.8"));
  CHECK_THAT(text, Catch::Contains("\nstatic, 2 wide                      3      1   1.7500"));
  CHECK_THAT(text, Catch::Contains("exactly 1.8750"));
  const auto json = answers::to_json(answer);
  CHECK(json["dynamic"]["width"] == 2);
  CHECK(json["dynamic"]["tokens_exact"] == Approx(1.875));
  CHECK(json["dynamic"]["static_tree"]["tokens_per_iteration"] == 1.75);
  CHECK(json["dynamic"]["speedup"].is_null());
  CHECK_FALSE(answers::to_json(best_tree(tree_question(3))).contains("dynamic"));

  question.price =
      TreePrice{.verification = analytic::linear_verification(3, 0.5), .c = 0.25, .drafting = Drafting::autoregressive};
  question.given = tree_from_paths(std::vector<TreePath>{{0}, {0, 0}});
  const DynamicTree priced = best_tree(question).dynamic.value();
  CHECK(priced.iteration_cost == 2.0 + 0.5);
  CHECK(priced.speedup.value().mean == priced.tokens.mean / 2.5);
  CHECK(priced.speedup.value().standard_error == priced.tokens.standard_error / 2.5);

  question.growth->spread = 0.0;
  const DynamicTree alike = best_tree(question).dynamic.value();
  CHECK(*alike.exact == Approx(alike.static_tree.tokens).epsilon(tests::second_route));
  question.accuracies = {{0.25, 0.5}, {0.5, 0.125}};
  CHECK_THROWS_AS(best_tree(question), DomainError);
}

TEST_CASE("tree's JSON has the keys of its schema and the values of the tree") {
  const auto json = answers::to_json(best_tree(tree_question(4)));
  std::string keys;
  for (const auto& [key, value] : json.items()) keys += key + " ";
  CHECK(keys ==
        "schema convention tree most_nodes most_depth drafter c times nodes depth leaves tokens_per_iteration "
        "tokens_variance iteration_cost speedup tokens_pmf paths probabilities best dense chain ");
  CHECK(json["schema"] == "foredraft.tree/1");
  CHECK(json["nodes"] == 4);
  CHECK(json["tokens_per_iteration"] == 2.0);
  CHECK(json["paths"].dump() == "[[0],[1],[0,0]]");
  CHECK(json["probabilities"].dump() == "[0.5,0.25,0.25]");
  CHECK(json["tokens_pmf"].dump() == "[0.25,0.5,0.25]");
  CHECK(json["speedup"].is_null());
  CHECK(json["best"].is_null());
  CHECK(json["dense"]["widths"].dump() == "[1,2]");  // 1 + .5 (1 + .625), above the 1.75 of widths 2
}

TEST_CASE("Graphviz and CSV hold every node of the tree once") {
  const TreeAnswer answer = best_tree(tree_question(4));
  CHECK_THAT(to_dot(answer), Catch::StartsWith("digraph tree {\n"));
  CHECK_THAT(to_dot(answer), Catch::Contains("  n3 [label=\"0\\n25.0 %\"];\n  n1 -> n3 [penwidth=1.30];\n}\n"));
  CHECK(to_csv(answer.chosen.tree, answer.probabilities) ==
        "node,parent,depth,rank,path,probability\n"
        "0,,0,0,,1\n"
        "1,0,1,0,0,0.5\n"
        "2,0,1,1,1,0.25\n"
        "3,1,2,0,0 0,0.25\n");
}

TEST_CASE("accuracies that rise with the rank are searched, and a missing rank counts as 0, with a note") {
  const std::vector<std::vector<double>> rising(2, {0.5, 0.2, 0.21});
  const TreeAnswer best = best_tree({.accuracies = rising, .nodes = 4, .depth = 2});
  CHECK(best.chosen.tree == tree_from_paths(std::vector<TreePath>{{0}, {0, 0}, {1}}));
  CHECK(best.chosen.tokens == Approx(1.95));
  REQUIRE(best.notes.size() == 1);
  CHECK_THAT(best.notes.front(), Catch::StartsWith("accuracies rise with the rank (head 1, rank 3: 0.21 after 0.2)"));
  CHECK_THAT(to_text(best), Catch::Contains("note      accuracies rise"));
  CHECK(answers::to_json(best)["notes"].size() == 1);

  const TreeAnswer given = best_tree({.accuracies = {{0.5}, {0.5}},
                                      .nodes = 4,
                                      .depth = 2,
                                      .given = tree_from_paths(std::vector<TreePath>{{0}, {0, 3}, {1}})});
  CHECK(given.chosen.tokens == 1.5);
  REQUIRE(given.notes.size() == 1);
  CHECK_THAT(given.notes.front(), Catch::StartsWith("the tree uses rank 2 at depth 1, where 1 are given"));
  CHECK_FALSE(answers::to_json(best_tree({.accuracies = {{0.5}}, .nodes = 2, .depth = 1})).contains("notes"));
}

TEST_CASE("accuracies are read with commas or blanks, comments and blank lines, and all errors are reported by line") {
  CHECK(inputs::parse_accuracies("# heads\n0.5, 0.25\n\n0.4 0.1\t0.05 # third is rare\r\n", "f") ==
        std::vector<std::vector<double>>{{0.5, 0.25}, {0.4, 0.1, 0.05}});
  CHECK_THROWS_MATCHES(inputs::parse_accuracies("0.5,0.6\n0.4,x\n\n0.9,0.2\n", "f"), InputError,
                       Says("f:1: invalid sum of accuracies[head 1]=1.1\nf:2: invalid accuracy \"x\"\nf:4: invalid sum "
                            "of accuracies[head 3]=1.1"));
  CHECK_THROWS_MATCHES(inputs::parse_accuracies("# nothing\n", "f"), InputError, Says("f: holds no accuracies"));
  CHECK_THROWS_AS(inputs::parse_accuracies("nan\n", "f"), InputError);
}

TEST_CASE("a tree is read as paths or as Medusa's list, and rejected if it is not connected") {
  const analytic::TokenTree tree = analytic::tree_from_paths(std::vector<analytic::TreePath>{{0}, {2}, {0, 1}});
  CHECK(inputs::parse_tree("0\n2 # third candidate\n0,1\n", "f") == tree);
  CHECK(inputs::parse_tree("mc = [[0], [0, 1], # two\n  [2]]\n", "f") == tree);
  CHECK(inputs::parse_tree("[]", "f") == analytic::TokenTree());
  CHECK(inputs::parse_tree(path_list(tree), "f") == tree);
  CHECK_THROWS_MATCHES(inputs::parse_tree("0\n1,0\n", "f"), InputError, Says("f: invalid path=\"1,0\""));
  CHECK_THROWS_MATCHES(inputs::parse_tree("0\n0,a\n", "f"), InputError, Says("f:2: invalid rank \"a\""));
  CHECK_THROWS_MATCHES(inputs::parse_tree("[[0], 1]", "f"), InputError, Says("f: no list of paths"));
  CHECK_THROWS_AS(inputs::parse_tree("[[0], [1.5]]", "f"), InputError);
  CHECK_THROWS_AS(inputs::parse_tree("[[0], ", "f"), InputError);
  CHECK_THROWS_AS(inputs::parse_tree("[[99999999999999999999]]", "f"), InputError);
  CHECK_THROWS_AS(inputs::parse_tree("0,99999999999\n", "f"), InputError);
  // 2^63 is 0 in 32 bits, and the absolute value of -2^63 has no 64.
  for (const char* rank : {"9223372036854775808", "-9223372036854775808", "4294967296", "2147483648", "-1"}) {
    const std::string why = fmt::format("invalid rank \"{}\"", rank);
    CHECK_THROWS_MATCHES(inputs::parse_tree(fmt::format("# a tree\n[[{}]]", rank), "f"), InputError,
                         Says("f:2: " + why));
    CHECK_THROWS_MATCHES(inputs::parse_tree(fmt::format("{}\n", rank), "f"), InputError, Says("f:1: " + why));
  }
}

TEST_CASE("times of verification are linear between their rows and rejected unless they rise from one node") {
  CHECK(inputs::parse_verification_times("1,4\n3,6\n4,10\n", "f") == std::vector<double>{4.0, 5.0, 6.0, 10.0});
  CHECK_THROWS_MATCHES(inputs::parse_verification_times("2,4\n", "f"), InputError, Says("f:1: invalid nodes=2"));
  CHECK_THROWS_MATCHES(inputs::parse_verification_times("1,4\n3,6\n3,7\n", "f"), InputError,
                       Says("f:3: invalid nodes=3"));
  CHECK_THROWS_MATCHES(inputs::parse_verification_times("1,4\n2,0\n", "f"), InputError, Says("f:2: damaged row"));
  CHECK_THROWS_MATCHES(inputs::parse_verification_times("", "f"), InputError, Says("f: holds no times"));
}

TEST_CASE("the tree command prints one JSON document, writes its folder and rejects bad usage with code 2") {
  tests::TemporaryFolder folder;
  tests::write_text(folder / "heads.csv", "0.5,0.25\n0.5,0.125\n");
  int code = -1;
  const std::string heads = "--accuracies " + (folder / "heads.csv");
  const auto json = nlohmann::json::parse(output_of_tree(heads + " --nodes 4 --json", code));
  CHECK(code == 0);
  CHECK(json["tokens_per_iteration"] == 2.0);
  CHECK_THAT(output_of_tree(heads + " --nodes 4 --dot", code), Catch::StartsWith("digraph tree {"));

  CHECK_THAT(output_of_tree("--accuracies " + (folder / "one.csv") + " --nodes 4", code),
             Catch::Contains("cannot be read"));
  CHECK(code == 2);
  tests::write_text(folder / "one.csv", "0.5 0.25\n");
  CHECK_THAT(output_of_tree("--accuracies " + (folder / "one.csv") + " --nodes 4 --every-depth --depth 9", code),
             Catch::StartsWith("2.0000 tokens"));

  const auto rejected = [&](const std::string& arguments, const std::string& why) {
    CHECK_THAT(output_of_tree(arguments, code), Catch::Contains(why));
    CHECK(code == 2);
  };
  // A published method without a tree option.
  rejected(heads + " --nodes 4 --drafter blok", "--drafter: unknown drafter \"blok\" - did you mean block?");
  rejected(heads + " --nodes 4 --drafter pearl", "predict --overlap (docs/methods.md)");
  rejected(heads + " --nodes 4 --drafter layerskip", "skipped_layers is not modeled: ");
  const std::string priced = heads + " --nodes 4 --profile h200 --target llama-2-7b --drafter heads";
  CHECK_THAT(output_of_tree(priced, code),
             Catch::StartsWith("speedup ") && Catch::Contains("llama-2-7b with heads at batch 1, context"));
  CHECK(code == 0);
  CHECK_THAT(output_of_tree(heads + " --nodes 4 --expand 2 --spread 0.5 --iterations 1000", code),
             Catch::Contains("\ndynamic (EAGLE-2), 2 wide "));
  CHECK(code == 0);
  rejected(heads + " --nodes 4 --out " + folder.path(), "it has files but no manifest.json");
  CHECK_FALSE(std::filesystem::exists(folder / "tree.json"));

  // Without plots the data are still written, and the folder may be written again.
  ::setenv("FOREDRAFT_PLOTS", folder.path().c_str(), 1);
  for (const char* nodes : {"4", "5"}) {
    static_cast<void>(output_of_tree(heads + " --nodes " + nodes + " --out " + (folder / "out"), code));
    CHECK(code == 0);
  }
  ::unsetenv("FOREDRAFT_PLOTS");
  CHECK(nlohmann::json::parse(tests::content_of(folder / "out/tree.json"))["nodes"] == 5);
  CHECK_THAT(tests::content_of(folder / "out/tree.csv"),
             Catch::StartsWith("node,parent,depth,rank,path,probability\n"));
  CHECK_THAT(tests::content_of(folder / "out/tree.dot"), Catch::StartsWith("digraph tree {"));
  const auto manifest = nlohmann::json::parse(tests::content_of(folder / "out/manifest.json"));
  CHECK(manifest["inputs"].size() == 1);
  CHECK(manifest["outputs"].size() == 3);
}

TEST_CASE("the greedy tree on Medusa's published accuracies has nearly all nodes of the tree that Medusa ships") {
  const experiments::ExperimentResult result =
      experiments::run_experiment("survey-medusa-tree", {.seed = 1, .threads = 2, .note = [](std::string_view) {}});
  CHECK(result.rows.size() == 25);
  CHECK_FALSE(experiments::any_failed(result.rows));
  CHECK_THAT(result.text, Catch::Contains("60 of 63 drafted nodes are in both"));
  const std::string& nodes = result.artifacts.back().content;
  CHECK(std::count(nodes.begin(), nodes.end(), '\n') == 1 + 1 + 66);  // header, root, 60 shared and 3 of each alone
}

}  // namespace foredraft::app
