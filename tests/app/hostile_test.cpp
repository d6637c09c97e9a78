// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/readable.hpp"
#include "tests/app/hostile_testing.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

/// The built program in a hostile environment: arguments, names, streams, the current directory, the PATH.
namespace foredraft::tests {
namespace {

namespace fs = std::filesystem;

/// Makes `path` executable.
void write_program(const std::string& path, const std::string& text) {
  write_text(path, text);
  fs::permissions(path, fs::perms::owner_all);
}

}  // namespace

TEST_CASE("no message moves the cursor, hides text or fills the screen, for any quoted text") {
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

TEST_CASE("names that are not UTF-8 keep the manifest and the report, in a first run and in a second") {
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
  // No folder can be created in /proc, even by root.
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

TEST_CASE("an endless input is an error that names the limit, and nothing is written") {
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

TEST_CASE("no number in a table exceeds the width of a table") {
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
    // The shell applies redirections in the arguments before ours, which use other files.
    const std::string command = "cd " + folder.path() + " && " FOREDRAFT_PROGRAM " sweep s.toml --out a " + closed +
                                (std::string(closed).find('1') == std::string::npos ? " > out" : "");
    const int status = std::system(command.c_str());
    REQUIRE(WIFEXITED(status));
    // A result that cannot be written is an error, but the folder is complete.
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

}  // namespace foredraft::tests
