// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/readable.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

/// The built program in surroundings that somebody else made: streams, the current directory, the PATH, result folders.
namespace foredraft::tests {
namespace {

namespace fs = std::filesystem;

const std::string figureless =
    "schema = \"foredraft.sweep/1\"\n[axes]\nalpha = [0.5, 0.9]\ngamma = [1, 3]\nc = [0.1]\n"
    "[simulation]\niterations = 20000\nseed = 1\n";
const std::string with_figure =
    figureless + "[[figure]]\nid = \"speed\"\nx = \"gamma\"\ny = \"speedup\"\nseries = \"alpha\"\n";

/// Makes `path` executable.
void write_program(const std::string& path, const std::string& text) {
  write_text(path, text);
  fs::permissions(path, fs::perms::owner_all);
}

/// Whether a script of ours could run at all.
bool has_python(const Outcome& outcome) { return outcome.err.find("no Python with matplotlib") == std::string::npos; }

}  // namespace

TEST_CASE("no message moves the cursor, hides text or fills the screen, whatever it quotes") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", figureless);
  write_text(folder / "heads.csv", "0.7,0.1\n");
  const std::string hostile =
      "\x1b[2J\x07\r\n\t\x7f\xff\xc2\x9b\u202e" + std::string(100'000, 'x') + " \" " + std::string(20'000, 'y');
  const std::string quoted = "'" + hostile + "'";
  for (const char* name : {"bad.toml", "bad.json", "bad.csv", "m/manifest.json"}) {
    fs::create_directories(fs::path(folder / name).parent_path());
    write_text(folder / name, hostile);
  }
  write_text(folder / "key.toml", figureless + "\"\\u001b[2J" + std::string(100'000, 'k') + "\" = 1\n");
  write_text(folder / "word.toml",
             "schema = \"foredraft.sweep/1\"\n[fixed]\nalpha = 0.5\ngamma = 1\nprocess = \"\\u001b\\n\\u202e" +
                 std::string(50'000, 'w') + " " + std::string(50'000, 'w') + "\"\n");
  write_text(folder / "word.json", "{\"schema\": \"\\u009b" + std::string(100'000, 'j') + "\"}");
  write_text(folder / "rows.csv",
             "model,role,batch,tokens,context,ms\nT,\x1b" + std::string(100'000, 'r') + ",1,1,1,1\n");
  fs::create_directory(folder / "n");
  write_text(folder / "n/manifest.json", "{\"schema\": \"\\u009b" + std::string(100'000, 'j') + "\"}");
  const std::string prediction = "predict --alpha 0.5 --target t5-base --draft ";
  for (const std::string& command : {quoted,
                                     "predict --alpha " + quoted + " --c 0.1",
                                     "predict --" + quoted + " 1",
                                     "predict --alpha 0.5 --c 0.1 --convention " + quoted,
                                     "predict --conditional " + quoted + " --c 0.1",
                                     "sweep " + quoted + " --out a",
                                     "sweep s.toml --shard " + quoted + " --out a",
                                     "check " + quoted,
                                     "plot " + quoted,
                                     "merge " + quoted + " --out a",
                                     "list " + quoted,
                                     "list rules --markdown " + quoted,
                                     "reproduce " + quoted + " --out a",
                                     "simulate " + quoted,
                                     prediction + "t5-small --profile " + quoted,
                                     prediction + quoted + " --profile h200",
                                     prediction + "t5-small --profile bad.json",
                                     prediction + "t5-small --profile word.json",
                                     prediction + "t5-small --steps-file bad.csv",
                                     prediction + "t5-small --steps-file rows.csv",
                                     std::string("sweep bad.toml --out a"),
                                     std::string("sweep key.toml --out a"),
                                     std::string("sweep word.toml --out a"),
                                     std::string("check m"),
                                     std::string("check n"),
                                     std::string("tree --accuracies bad.csv --nodes 4"),
                                     std::string("tree --accuracies heads.csv --tree bad.json"),
                                     std::string("validate --profile h200 --against bad.csv --out a")}) {
    const Outcome outcome = foredraft(folder, command);
    CAPTURE(command.substr(0, 60), outcome.err.substr(0, 3000));
    CHECK(outcome.code == 2);
    CHECK_FALSE(outcome.err.empty());
    CHECK(outcome.err.size() < 4000);
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') < 10);
    CHECK(readable_message(outcome.err) == outcome.err);
    for (const char* hidden : {"\u009b", "\u202e", "[json."}) CHECK(outcome.err.find(hidden) == std::string::npos);
    CHECK(outcome.err.find(std::string(201, 'x')) == std::string::npos);
  }
  CHECK_FALSE(fs::exists(folder / "a"));
}

TEST_CASE("everything after -- is a name, even if it begins with a dash") {
  const TemporaryFolder folder;
  write_text(folder / "-s.toml", figureless);
  CHECK(foredraft(folder, "sweep --out a --no-figures -- -s.toml").code == 0);
  CHECK(foredraft(folder, "check -- a").code == 0);
  CHECK_THAT(foredraft(folder, "sweep --out b -- -s.toml --threads").err,
             Catch::Contains("--threads: unexpected argument"));
  CHECK_THAT(foredraft(folder, "sweep -- -s.toml --out b").err,
             Catch::Contains("--out: unexpected argument") && Catch::Contains("--out: missing"));
  CHECK_FALSE(fs::exists(folder / "b"));
}

TEST_CASE("names that are no UTF-8 lose neither the manifest nor the report, in a first run and in a second") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", with_figure);
  write_text(folder / "heads\xff.csv", "0.7,0.1\n0.5,0.1\n");
  write_text(folder / "steps\xff.csv",
             "model,role,batch,tokens,context,ms\nT\xff,decoder_pass,1,1,512,10\nT\xff,decoder_pass,1,9,512,11\n"
             "D,decoder_pass,1,1,512,1\n");
  const std::string prediction = "predict --steps-file 'steps\xff.csv' --target 'T\xff' --draft D --alpha 0.5";
  for (const std::string& command : {std::string("sweep s.toml"), std::string("reproduce leviathan-table1"),
                                     std::string("tree --accuracies 'heads\xff.csv' --nodes 4"), prediction}) {
    fs::remove_all(folder / "a\xff");
    for (int run = 1; run <= 2; ++run) {
      // Drawing takes seconds: once is enough.
      const bool draw = run == 1 && command.starts_with("sweep");
      const Outcome outcome = foredraft(folder, command + " --out 'a\xff'", draw ? "" : "env FOREDRAFT_PLOTS=none");
      CAPTURE(command, run, outcome.err);
      CHECK(outcome.code == 0);
      CHECK(nlohmann::json::parse(content_of(folder / "a\xff/manifest.json"), nullptr, false).is_object());
      if (draw && has_python(outcome)) CHECK(fs::exists(folder / "a\xff/report.html"));
    }
  }
  const Outcome json = foredraft(folder, prediction + " --json");
  CAPTURE(json.err);
  CHECK(json.code == 0);
  CHECK(nlohmann::json::parse(json.out, nullptr, false).is_object());
}

TEST_CASE("a path that cannot be accessed is bad input, reported in a sentence") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", figureless);
  write_text(folder / "heads.csv", "0.7,0.1\n0.5,0.1\n");
  write_text(folder / "speedups.csv",
             "target,draft,gamma,alpha,batch,context,speedup\nllama-2-7b,sheared-llama-1.3b,3,0.7,1,512,1.5\n");
  const std::string longest(300, 'n');
  write_text(folder / "p.toml",
             "schema = \"foredraft.sweep/1\"\n[fixed]\nalpha = 0.5\ngamma = 1\ncost = \"measured\"\n"
             "\"cost.target\" = \"t5-base\"\n\"cost.draft\" = \"t5-small\"\n\"cost.profile\" = \"" +
                 longest + "\"\n");
  const std::string pair = " --target t5-base --draft t5-small";
  CHECK_THAT(foredraft(folder, "sweep " + longest + " --out a").err,
             Catch::EndsWith(": cannot be read (File name too long)\n"));
  CHECK_THAT(foredraft(folder, "sweep s.toml --out " + longest).err,
             Catch::EndsWith(": cannot be created (File name too long)\n"));
  // /proc takes no folder from anybody, root included.
  CHECK_THAT(foredraft(folder, "sweep s.toml --out /proc/a").err, Catch::Contains("/proc/a: cannot be created"));
  for (const std::string& command :
       std::vector<std::string>{"sweep " + longest + " --out a",
                                "sweep s.toml --out " + longest,
                                "sweep s.toml --out s.toml/a",
                                "sweep s.toml --out /proc/a",
                                std::string("sweep p.toml --out a"),
                                "check " + longest,
                                "plot " + longest,
                                "merge " + longest + " --out a",
                                "predict --alpha 0.5 --profile " + longest + pair,
                                "predict --alpha 0.5 --steps-file " + longest + pair,
                                "predict --alpha 0.5 --profile h200 --out " + longest + pair,
                                "tree --nodes 4 --accuracies " + longest,
                                "tree --nodes 4 --accuracies heads.csv --profile " + longest + pair,
                                "calibrate --quick --out " + longest,
                                "calibrate --quick --out " + longest + "/a.json",
                                "calibrate --quick --backend cuda --out " + longest,
                                "validate --profile " + longest + " --against speedups.csv --out a",
                                "validate --profile h200 --out a --against " + longest,
                                "reproduce leviathan-table1 --out " + longest,
                                "simulate " + longest}) {
    const Outcome outcome = foredraft(folder, command);
    CAPTURE(command, outcome.err);
    CHECK(outcome.code == 2);
    CHECK(outcome.err.find("filesystem error") == std::string::npos);
    CHECK(outcome.err.find("std::") == std::string::npos);
    CHECK_FALSE(outcome.err.empty());
    CHECK_FALSE(fs::exists(folder / "a"));
  }
}

TEST_CASE("an input without end is an error that names the limit, and nothing is written") {
  const TemporaryFolder folder;
  write_text(folder / "heads.csv", "0.7,0.1\n0.5,0.1\n");
  const std::string sweep =
      "schema = \"foredraft.sweep/1\"\n[simulation]\niterations = 1000\nseed = 1\n[fixed]\ngamma = 1\nc = 0.1\n";
  write_text(folder / "p.toml", sweep + "process = \"trace\"\n\"process.file\" = \"/dev/zero\"\n");
  write_text(folder / "o.toml", sweep + "process = \"observed\"\n\"process.file\" = \"/dev/zero\"\n");
  write_text(folder / "c.toml", sweep +
                                    "fidelity = \"token\"\nmodels = { kind = \"ngram\", corpus = \"/dev/zero\", "
                                    "target_order = 3, draft_order = 2 }\n");
  const std::string pair = " --alpha 0.5 --target t5-base --draft t5-small";
  const std::string whole = "/dev/zero: is larger than 268435456 bytes";
  const std::string log = "more than 512 MiB without a line of a known format";
  for (const auto& [command, what] : std::vector<std::pair<std::string, std::string>>{
           {"advise /dev/zero --out a", log},
           {"import - --out a < /dev/zero", log},
           {"predict --profile /dev/zero --out a" + pair, whole},
           {"predict --steps-file /dev/zero --out a" + pair, whole},
           {"sweep /dev/zero --out a", whole},
           {"sweep p.toml --out a", whole},
           {"sweep o.toml --out a", log},
           {"sweep c.toml --out a", "corpus=/dev/zero"},
           {"tree --accuracies /dev/zero --nodes 4 --out a", whole},
           {"tree --accuracies heads.csv --paths /dev/zero --out a", whole}}) {
    const Outcome outcome = foredraft(folder, command);
    CAPTURE(command, outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Catch::Contains(what));
    CHECK_FALSE(fs::exists(folder / "a"));
  }
}

TEST_CASE("merge names the shards that are missing in ranges, twenty at most") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml",
             "schema = \"foredraft.sweep/1\"\n[axes]\nalpha = { from = 0.001, to = 0.999, step = 0.001 "
             "}\n[fixed]\ngamma = 1\nc = 0.1\n");
  std::string folders;
  const auto missing = [&](std::initializer_list<int> shards, int count) {
    for (const int shard : shards) {
      const std::string name = "p" + std::to_string(shard);
      REQUIRE(foredraft(folder, "sweep s.toml --out " + name + " --shard " + std::to_string(shard) + "/" +
                                    std::to_string(count))
                  .code == 0);
      folders += name + " ";
    }
    const Outcome outcome = foredraft(folder, "merge " + folders + "--out whole");
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK(missing({3, 7, 8, 11}, 999) ==
        "foredraft merge: 995 of 999 shards are missing: 1, 2, 4 to 6, 9, 10, 12 to 999 - run them, then merge\n");
  CHECK(missing({20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54}, 999) ==
        "foredraft merge: 977 of 999 shards are missing: 1, 2, 4 to 6, 9, 10, 12 to 19, 21, 23, 25, 27, 29, 31, 33, "
        "35, 37, 39, 41, "
        "43, 45, 47, 49, 51 and 946 more - run them, then merge\n");
}

TEST_CASE("a model without times of a role is not unknown, and its own name is not suggested") {
  const TemporaryFolder folder;
  write_text(folder / "steps.csv",
             "model,role,batch,tokens,context,ms\nT,decoder_pass,1,1,512,10\nT,decoder_pass,1,4,512,11\n"
             "D,autoregressive_drafting,1,3,512,3\n");
  const std::string prediction = "predict --steps-file steps.csv --alpha 0.5 --target T --draft ";
  const Outcome known = foredraft(folder, "predict --steps-file steps.csv --alpha 0.5 --target D --draft T");
  CHECK(known.code == 2);
  CHECK_THAT(known.err, Catch::Contains("no times for D decoder_pass user") &&
                            Catch::Contains("has autoregressive_drafting user of this model") &&
                            !Catch::Contains("did you mean"));
  CHECK_THAT(foredraft(folder, prediction + "'D '").err,
             Catch::Contains("unknown model \"D \"") && !Catch::Contains("did you mean"));
}

TEST_CASE("no number of a table is longer than a table is wide") {
  const TemporaryFolder folder;
  for (const char* command :
       {"predict --alpha 0.8 --gamma 3 --c 1e300", "predict --alpha 0.9999999999999999 --c 1e-300",
        "predict --alpha 1 --gamma 1000000000000 --c 1e-300 --operations-ratio 1e300",
        "predict --alpha 0.8 --c 1e-300 --policy plus2_minus1 --gamma 50",
        "predict --alpha 0.8 --gamma 3 --step-ms 1e-9 --draft-ms 1e9 --verify-ms 1e9",
        "predict --alpha 0.8 --gamma 3 --step-ms 1e9 --draft-ms 0 --verify-ms 1e-9"}) {
    const Outcome outcome = foredraft(folder, command);
    CAPTURE(command, outcome.err, outcome.out);
    CHECK(outcome.code == 0);
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() < 160);
    CHECK(outcome.out.find(std::string(20, '0')) == std::string::npos);
  }
  CHECK_THAT(foredraft(folder, "predict --alpha 0.8 --gamma 3 --c 1e300").out,
             Catch::Contains("costs 3.00e+300 target steps"));
  CHECK_THAT(foredraft(folder, "predict --alpha 0.9999999999999999 --c 1e-300").out,
             Catch::Contains("speedup 9.01e+15x") && Catch::Contains("gamma 5891057137365341448 (best)"));
}

TEST_CASE("closed standard streams change no file of results") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", figureless);
  REQUIRE(foredraft(folder, "sweep s.toml --out whole").code == 0);
  const std::string whole = content_of(folder / "whole/points.csv");
  for (const char* closed : {"2>&-", "<&- 2>&-", "<&- 1>&- 2>&-", "1>&-"}) {
    CAPTURE(closed);
    fs::remove_all(folder / "a");
    // The shell applies what stands in the arguments before our own redirections: those name files of their own.
    const std::string command = "cd " + folder.path() + " && " FOREDRAFT_PROGRAM " sweep s.toml --out a " + closed +
                                (std::string(closed).find('1') == std::string::npos ? " > out" : "");
    const int status = std::system(command.c_str());
    REQUIRE(WIFEXITED(status));
    // A result that nobody can receive is an error; the folder is whole all the same.
    CHECK(WEXITSTATUS(status) == (std::string(closed).find('1') == std::string::npos ? 0 : 1));
    CHECK(content_of(folder / "a/points.csv") == whole);
    CHECK(foredraft(folder, "check a").code == 0);
  }
}

TEST_CASE("a message that cannot be written is dropped, a result that cannot be written is exit code 1") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", figureless);
  const auto code_of = [&](const std::string& arguments) {
    const int status = std::system(("cd " + folder.path() + " && " FOREDRAFT_PROGRAM " " + arguments).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  CHECK(code_of("bogus 2>/dev/full") == 2);
  CHECK(code_of("2>/dev/full") == 2);
  CHECK(code_of("sweep s.toml --out a 2>/dev/full >out") == 0);
  write_text(folder / "heads.csv", "0.7,0.1\n0.5,0.1\n");
  const std::string prediction = "predict --profile h200 --target llama-2-7b --draft sheared-llama-1.3b --alpha 0.7";
  for (const std::string& command :
       {std::string("--help"), std::string("--version"), std::string("list rules"), std::string("list parameters"),
        std::string("predict --alpha 0.8 --gamma 5 --c 0.05 --json"),
        std::string("simulate --alpha 0.8 --gamma 5 --iterations 1000 --seed 1"), std::string("sweep s.toml --out a"),
        std::string("check a"), std::string("merge --help"),
        std::string("reproduce leviathan-table1 --out r --no-figures"), prediction + " --out p",
        std::string("tree --accuracies heads.csv --nodes 4 --out t")}) {
    CAPTURE(command);
    CHECK(code_of(command + " >/dev/full 2>err") == 1);
    CHECK_THAT(content_of(folder / "err"),
               Catch::Contains("standard output: cannot be written (No space left on device)"));
  }
}

TEST_CASE("no code of the current directory is run, whatever its name") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", with_figure);
  for (const char* module : {"matplotlib", "numpy", "json", "re", "PIL", "cycler", "os", "load", "sitecustomize"}) {
    write_text(folder / (std::string(module) + ".py"), "open('" + (folder / "executed") + "', 'w')\n");
  }
  write_program(folder / "python3", "#!/bin/sh\ntouch " + (folder / "executed") + "\n");
  write_program(folder / "foredraft-gpu", "#!/bin/sh\ntouch " + (folder / "executed") + "\n");
  const std::string environment = "env PYTHONPATH=" + folder.path() + " PYTHONSTARTUP=matplotlib.py PATH=:.:$PATH:";
  const Outcome drawn = foredraft(folder, "sweep s.toml --out a", environment);
  CHECK(drawn.code == 0);
  if (has_python(drawn)) CHECK(fs::exists(folder / "a/speed.pdf"));
  CHECK_FALSE(fs::exists(folder / "executed"));
  const bool beside = fs::exists(fs::path(FOREDRAFT_PROGRAM).parent_path() / "foredraft-gpu");
  const Outcome gpu = foredraft(folder, "calibrate --backend cuda --out gpu.json", "env PATH=:.:relative:");
  CHECK(gpu.code == 2);
  if (!beside) CHECK_THAT(gpu.err, Catch::Contains("foredraft-gpu is neither beside this program"));
  CHECK_FALSE(fs::exists(folder / "executed"));
}

TEST_CASE("the program starts the plots in its own folder") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", with_figure);
  fs::create_directory(folder / "plots");
  fs::copy_file(FOREDRAFT_PROGRAM, folder / "foredraft");
  for (const char* script : {"plot.py", "report.py"}) {
    write_text(folder / (std::string("plots/") + script),
               "import pathlib, sys\n(pathlib.Path(sys.argv[1]) / 'beside').touch()\n");
  }
  const std::string command = "cd " + folder.path() + " && ./foredraft sweep s.toml --out a > out 2> err";
  const int status = std::system(command.c_str());
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  if (content_of(folder / "err").find("no Python with matplotlib") == std::string::npos) {
    CHECK(fs::exists(folder / "a/beside"));
  }
}

TEST_CASE("links in a results folder are neither written through nor read") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", with_figure);
  write_text(folder / "victim", "mine");
  REQUIRE(foredraft(folder, "sweep s.toml --out a --no-figures").code == 0);
  for (const char* name : {"manifest.json.tmp", "report.html.unfinished", "report.html", "speed.pdf", "speed.svg"}) {
    fs::create_symlink("../victim", folder / (std::string("a/") + name));
  }
  const Outcome drawn = foredraft(folder, "plot a");
  CHECK(content_of(folder / "victim") == "mine");
  if (has_python(drawn)) {
    CHECK(drawn.code == 0);
    CHECK_FALSE(fs::is_symlink(folder / "a/report.html"));
  }

  // A folder of a run that did not finish, whose points.csv is a link: nothing is cut off.
  fs::create_directory(folder / "b");
  std::string manifest = content_of(folder / "a/manifest.json");
  manifest.replace(manifest.find("\"complete\""), 10, "\"running\"");
  write_text(folder / "b/manifest.json", manifest);
  fs::create_symlink("../victim", folder / "b/points.csv");
  const Outcome resumed = foredraft(folder, "sweep s.toml --out b --no-figures");
  CHECK(resumed.code == 2);
  CHECK_THAT(resumed.err, Catch::Contains("b/points.csv: cannot be written (it is a link"));
  // Nor is another file that got this name.
  fs::remove(folder / "b/points.csv");
  write_text(folder / "b/points.csv", "mine");
  CHECK(foredraft(folder, "sweep s.toml --out b --no-figures").code == 2);
  CHECK(content_of(folder / "b/points.csv") == "mine");
  CHECK(content_of(folder / "victim") == "mine");
}

TEST_CASE("check reads regular files of its folder, and no more of them than the manifest says") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", figureless);
  REQUIRE(foredraft(folder, "sweep s.toml --out a").code == 0);
  const std::string sound = content_of(folder / "a/manifest.json");
  const auto manifest_with = [&](const std::function<void(nlohmann::ordered_json&)>& change) {
    auto manifest = nlohmann::ordered_json::parse(sound);
    change(manifest);
    write_text(folder / "a/manifest.json", manifest.dump(2));
    return foredraft(folder, "check a");
  };
  const auto rejected = [&](const std::string& what, const Outcome& outcome, int code) {
    CAPTURE(what, outcome.err);
    CHECK(outcome.code == code);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, Catch::Contains(what));
  };
  const std::string outside = "an output is not a file of its folder";
  for (const char* path : {"/dev/zero", "../s.toml", "..", ""}) {
    rejected(outside, manifest_with([&](auto& json) { json["outputs"][1]["path"] = path; }), 2);
  }
  rejected("is inconsistent with the rest", manifest_with([](auto& json) { json["seed"] = 2; }), 2);
  rejected("is inconsistent with the rest", manifest_with([](auto& json) { json["points"] = 5; }), 2);
  rejected("is inconsistent with the rest", manifest_with([](auto& json) { json["version"] = "9.9.9"; }), 2);
  rejected("size", manifest_with([](auto& json) { json["outputs"][1]["bytes"] = 7; }), 1);
  rejected("SHA-256", manifest_with([](auto& json) { json["outputs"][1]["sha256"] = std::string(64, '0'); }), 1);
  write_text(folder / "a/manifest.json", sound);
  fs::remove(folder / "a/summary.md");
  fs::create_symlink("/dev/zero", folder / "a/summary.md");
  rejected("it is a link", foredraft(folder, "check a"), 1);
  fs::remove(folder / "a/summary.md");
  REQUIRE(::mkfifo((folder / "a/summary.md").c_str(), 0600) == 0);
  rejected("it is not a regular file", foredraft(folder, "check a"), 1);
}

TEST_CASE("check names the files of a complete sweep or shard that its manifest does not list") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", with_figure);
  REQUIRE(foredraft(folder, "sweep s.toml --out a --no-figures").code == 0);
  REQUIRE(foredraft(folder, "sweep s.toml --out part --shard 1/2").code == 0);
  const std::string sound = content_of(folder / "a/manifest.json");
  const auto kept = [&](std::size_t outputs) {
    auto manifest = nlohmann::ordered_json::parse(sound);
    auto& list = manifest["outputs"];
    REQUIRE(list.size() == 5);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(outputs), list.end());
    write_text(folder / "a/manifest.json", manifest.dump(2));
    return foredraft(folder, "check a");
  };
  for (const auto& [outputs, names] :
       std::vector<std::pair<std::size_t, std::string>>{{1, "summary.md, summary.tex, speed.csv, speed.figure.json"},
                                                        {3, "speed.csv, speed.figure.json"},
                                                        {4, "speed.figure.json"}}) {
    const Outcome outcome = kept(outputs);
    CAPTURE(outputs, outcome.err);
    CHECK(outcome.code == 1);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, Catch::Contains("a/manifest.json: its outputs lack " + names + " ("));
  }
  CHECK(kept(5).code == 0);
  CHECK(foredraft(folder, "check part").code == 0);
}

TEST_CASE("merge takes the rows of the configuration and no others") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", figureless);
  for (const char* shard : {"1", "2"}) {
    REQUIRE(foredraft(folder, std::string("sweep s.toml --out p") + shard + " --shard " + shard + "/2").code == 0);
  }
  const std::string rows = content_of(folder / "p1/points.csv");
  const auto merge_of = [&](const std::string& changed) {
    write_text(folder / "p1/points.csv", changed);
    // A manifest that vouches for them.
    auto manifest = nlohmann::ordered_json::parse(content_of(folder / "p1/manifest.json"));
    REQUIRE(
        std::system(("sha256sum " + (folder / "p1/points.csv") + " | cut -c1-64 | tr -d '\\n' > " + (folder / "sum"))
                        .c_str()) == 0);
    manifest["outputs"][0]["sha256"] = content_of(folder / "sum");
    manifest["outputs"][0]["bytes"] = changed.size();
    write_text(folder / "p1/manifest.json", manifest.dump(2));
    return foredraft(folder, "merge p1 p2 --out whole");
  };
  const std::string last_row = rows.substr(rows.rfind('\n', rows.size() - 2) + 1);
  std::string many = rows;
  for (int i = 0; i < 5000; ++i) many += last_row;
  for (const std::string& changed : {many, rows + last_row, rows.substr(0, rows.size() - last_row.size()),
                                     rows.substr(0, rows.size() - 1), rows + "2", std::string("mine")}) {
    const Outcome outcome = merge_of(changed);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, Catch::Contains("p1: points.csv has other rows than its configuration"));
    CHECK_FALSE(fs::exists(folder / "whole"));
  }
  CHECK(merge_of(rows).code == 0);
  CHECK(foredraft(folder, "check whole").code == 0);
}

TEST_CASE("figures are part of the run: an interrupt is 130, and the same command draws what is missing") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", with_figure);
  fs::create_directory(folder / "plots");
  const std::string plots = "FOREDRAFT_PLOTS=plots";
  // Draws only where it is not asked to wait for a signal.
  write_text(folder / "plots/plot.py",
             "import os, pathlib, signal, sys, time\n"
             "signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))\n"
             "signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})\n"
             "folder = pathlib.Path(sys.argv[1])\n"
             "if pathlib.Path('wait').exists():\n"
             "    pathlib.Path('waiting').touch()\n"
             "    time.sleep(60)\n"
             "for ending in ('pdf', 'svg', 'png'): (folder / ('speed.' + ending)).write_text('drawn')\n");
  write_text(folder / "plots/report.py",
             "import pathlib, sys\n(pathlib.Path(sys.argv[1]) / 'report.html').write_text('written')\n");
  write_text(folder / "wait", "");
  // Only the program gets the signal, as from kill: it passes it on.
  const Outcome stopped = foredraft(
      folder, "sweep s.toml --out a",
      "sh -c '\"$@\" & child=$!; n=0; while [ ! -e waiting ] && kill -0 $child && [ $n -lt 300 ]; do sleep 0.1; "
      "n=$((n+1)); done; kill -INT $child; wait $child' sh env " +
          plots);
  if (!has_python(stopped)) return;
  CHECK(stopped.code == 130);
  CHECK_THAT(stopped.err, Catch::Contains("interrupted; ") && !Catch::Contains("Traceback"));
  CHECK_FALSE(fs::exists(folder / "a/.foredraft-lock"));
  CHECK_FALSE(fs::exists(folder / "a/speed.pdf"));
  fs::remove(folder / "wait");
  const Outcome again = foredraft(folder, "sweep s.toml --out a", plots);
  CHECK(again.code == 0);
  CHECK_THAT(again.err, Catch::Contains("a is complete: the figures are drawn again"));
  CHECK(content_of(folder / "a/speed.png") == "drawn");
  CHECK(content_of(folder / "a/report.html") == "written");
  CHECK_THAT(foredraft(folder, "sweep s.toml --out a", plots).err, Catch::Contains("a is complete: nothing to do"));
  fs::remove(folder / "a/speed.svg");
  CHECK(foredraft(folder, "sweep s.toml --out a", plots).code == 0);
  CHECK(fs::exists(folder / "a/speed.svg"));

  // Other figures of the same name: what was drawn before is not theirs.
  std::string changed = with_figure;
  changed.replace(changed.find("y = \"speedup\""), 13, "y = \"tokens_per_iteration\"");
  write_text(folder / "s.toml", changed);
  CHECK(foredraft(folder, "sweep s.toml --out a --no-figures", plots).code == 0);
  CHECK_FALSE(fs::exists(folder / "a/speed.pdf"));
  CHECK(foredraft(folder, "sweep s.toml --out a", plots).code == 0);
  CHECK(fs::exists(folder / "a/speed.pdf"));

  // What could not be drawn is a failure, and is tried again.
  write_text(folder / "plots/plot.py", "import sys\nsys.exit(1)\n");
  CHECK(foredraft(folder, "sweep s.toml --out b", plots).code == 1);
  CHECK(foredraft(folder, "check b").code == 0);
  CHECK(foredraft(folder, "sweep s.toml --out b", plots).code == 1);
  CHECK(foredraft(folder, "plot b", plots).code == 1);
}

TEST_CASE("a folder that another run is writing is left alone by every command") {
  const TemporaryFolder folder;
  write_text(folder / "s.toml", figureless);
  write_text(folder / "heads.csv", "0.7,0.1\n0.5,0.1\n");
  REQUIRE(foredraft(folder, "sweep s.toml --out p1 --shard 1/2").code == 0);
  REQUIRE(foredraft(folder, "sweep s.toml --out p2 --shard 2/2").code == 0);
  REQUIRE(foredraft(folder, "sweep s.toml --out a").code == 0);
  fs::create_directory(folder / "empty");
  const std::string prediction = "predict --profile h200 --target llama-2-7b --draft sheared-llama-1.3b --alpha 0.7";
  for (const auto& [command, out] : std::vector<std::pair<std::string, std::string>>{
           {"sweep s.toml --out empty", "empty"},
           {"sweep s.toml --out a", "a"},
           {"plot a", "a"},
           {"merge p1 p2 --out empty", "empty"},
           {"reproduce leviathan-table1 --out empty --no-figures", "empty"},
           {prediction + " --out empty", "empty"},
           {"tree --accuracies heads.csv --nodes 4 --out empty", "empty"},
           {"validate --profile h200 --against speedups.csv --out empty", "empty"}}) {
    CAPTURE(command);
    write_text(folder / "speedups.csv",
               "target,draft,gamma,alpha,batch,context,speedup\nllama-2-7b,sheared-llama-1.3b,3,0.7,1,512,1.5\n");
    const Outcome rejected = foredraft(folder, command, "flock -n " + (folder / (out + "/.foredraft-lock")));
    CAPTURE(rejected.err);
    CHECK(rejected.code == 2);
    CHECK_THAT(rejected.err, Catch::Contains("another run is writing it"));
    fs::remove(folder / (out + "/.foredraft-lock"));
    CHECK(fs::is_empty(folder / "empty"));
  }
}

}  // namespace foredraft::tests
