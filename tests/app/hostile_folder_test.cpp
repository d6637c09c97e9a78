// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/app/hostile_testing.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

/// The built program on results folders that another process has changed or is writing.
namespace foredraft::tests {
namespace {

namespace fs = std::filesystem;

}  // namespace

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

  // A folder of an unfinished run whose points.csv is a link: nothing is truncated.
  fs::create_directory(folder / "b");
  std::string manifest = content_of(folder / "a/manifest.json");
  manifest.replace(manifest.find("\"complete\""), 10, "\"running\"");
  write_text(folder / "b/manifest.json", manifest);
  fs::create_symlink("../victim", folder / "b/points.csv");
  const Outcome resumed = foredraft(folder, "sweep s.toml --out b --no-figures");
  CHECK(resumed.code == 2);
  CHECK_THAT(resumed.err, Catch::Contains("b/points.csv: cannot be written (it is a link"));
  // Nor is another file with this name.
  fs::remove(folder / "b/points.csv");
  write_text(folder / "b/points.csv", "mine");
  CHECK(foredraft(folder, "sweep s.toml --out b --no-figures").code == 2);
  CHECK(content_of(folder / "b/points.csv") == "mine");
  CHECK(content_of(folder / "victim") == "mine");
}

TEST_CASE("check reads regular files of its folder, and only as many bytes as the manifest says") {
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
    // A manifest with their digests.
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
  // Draws only if it need not wait for a signal.
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

  // Other figures with the same name: the earlier drawing is not theirs.
  std::string changed = with_figure;
  changed.replace(changed.find("y = \"speedup\""), 13, "y = \"tokens_per_iteration\"");
  write_text(folder / "s.toml", changed);
  CHECK(foredraft(folder, "sweep s.toml --out a --no-figures", plots).code == 0);
  CHECK_FALSE(fs::exists(folder / "a/speed.pdf"));
  CHECK(foredraft(folder, "sweep s.toml --out a", plots).code == 0);
  CHECK(fs::exists(folder / "a/speed.pdf"));

  // A failed drawing is a failure, and is tried again.
  write_text(folder / "plots/plot.py", "import sys\nsys.exit(1)\n");
  CHECK(foredraft(folder, "sweep s.toml --out b", plots).code == 1);
  CHECK(foredraft(folder, "check b").code == 0);
  CHECK(foredraft(folder, "sweep s.toml --out b", plots).code == 1);
  CHECK(foredraft(folder, "plot b", plots).code == 1);
}

TEST_CASE("no command changes a folder that another run is writing") {
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
