#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs into a temporary prefix, moves that, and uses it as a user would: builds the example of docs/api.md and a
consumer of every public function against it with warnings as errors, runs both and the installed program, and checks
all other installed files.

Usage: install_test.py SOURCE BUILD CMAKE COMPILER VERSION
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SWEEP = """schema = "foredraft.sweep/1"
[axes]
gamma = [1, 2]
[fixed]
alpha = 0.8
c = 0.1
[[figure]]
id = "speed"
x = "gamma"
y = "speedup"
"""
STAND_IN = "import pathlib, sys\n(pathlib.Path(sys.argv[1]) / 'drawn').touch()\n"
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
set(CMAKE_NO_SYSTEM_FROM_IMPORTED ON)
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
{example}
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE foredraft::foredraft)
"""
failed = []


def check(holds, what):
    if not holds:
        failed.append(what)


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        failed.append(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        sys.exit("\n".join(failed))
    return done.stdout


def block_of(page, language):
    """The only code block of this language."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    if len(blocks) != 1:
        sys.exit(f"docs/api.md: {len(blocks)} blocks of {language} instead of one")
    return blocks[0]


def check_headers(source, prefix):
    public = sorted(path.name for path in (source / "include/foredraft").iterdir())
    installed = sorted(path.relative_to(prefix / "include").as_posix() for path in (prefix / "include").rglob("*")
                       if path.is_file())
    check(installed == [f"foredraft/{name}" for name in public], f"installed headers: {installed}")
    for name in public:
        text = (source / "include/foredraft" / name).read_text(encoding="utf-8")
        for included in re.findall(r'^\s*#\s*include\s*(.*)$', text, re.MULTILINE):
            check(re.fullmatch(r'<[a-z_]+>|"foredraft/[a-z_]+\.hpp"', included), f"{name}: includes {included}")
        # Names that are not declared between these are hidden.
        check(text.count("#pragma GCC visibility push(default)") == text.count("#pragma GCC visibility pop") == 1,
              f"{name}: what it declares is not exported")
        check("#define" not in text, f"{name}: defines a macro")
    return public


def check_library(source, prefix):
    # As the beginning of a path: a short one such as /src may occur inside others.
    tree = re.compile(rb"(?<![\w./-])" + re.escape(str(source).encode()) + rb"(?![\w.-])")
    for path in [prefix / "bin/foredraft", *(prefix / "lib").rglob("*")]:
        if path.is_file():
            check(not tree.search(path.read_bytes()), f"{path.relative_to(prefix)}: names the source tree")
    for path in (prefix / "lib/cmake").rglob("*.cmake"):
        text = path.read_text(encoding="utf-8")
        check(not re.search(r"-W\w|-std=|INTERFACE_COMPILE_OPTIONS|INTERFACE_LINK_LIBRARIES|find_dependency", text),
              f"{path.name}: flags or libraries for consumers")
    inner = "analytic|sim|latency|scenario|gpu_bench|experiments|ngram|detail"
    symbols = run("nm", "-DC", "--defined-only", prefix / "lib/libforedraft.so")
    check("foredraft::predict(" in symbols, "foredraft::predict is not exported")
    for line in symbols.splitlines():
        name = line.split(" ", 2)[-1]
        check(not re.match(rf"(typeinfo .*|vtable for )?foredraft::({inner})::", name), f"exported: {name}")


def build_consumer(source, prefix, folder, cmake, compiler, public):
    page = (source / "docs/api.md").read_text(encoding="utf-8")
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(PROJECT.format(example=block_of(page, "cmake")))
    (folder / "main.cpp").write_text(block_of(page, "cpp"))
    (folder / "consumer.cpp").write_bytes((source / "tests/install/consumer.cpp").read_bytes())
    (folder / "every_header.hpp").write_text("".join(f'#include "foredraft/{name}"\n' for name in public))
    (folder / "sweep.toml").write_text(SWEEP)
    run(cmake, "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_CXX_COMPILER_LAUNCHER=")
    run(cmake, "--build", folder / "build")
    run(folder / "build/consumer", cwd=folder)
    printed = run(folder / "build/example", cwd=folder)
    check(printed == block_of(page, "text"), f"docs/api.md: the example prints something else:\n{printed}")


def check_program(prefix, folder, version):
    program = prefix / "bin/foredraft"
    check(run(program, "--version").startswith(f"foredraft {version} "), "--version")
    answer = run(program, "predict", "--alpha", "0.8", "--gamma", "5", "--c", "0.05")
    check(answer.startswith("speedup 2.95x: an iteration yields 3.69 tokens"), f"predict: {answer}")
    check((prefix / "share/foredraft/plots/report.py").is_file(), "report.py is not installed")
    for name, beginning in (("man/man1/foredraft.1", ".TH FOREDRAFT 1"), ("zsh/site-functions/_foredraft", "#compdef"),
                            ("bash-completion/completions/foredraft", "# bash"),
                            ("fish/vendor_completions.d/foredraft.fish", "# fish")):
        file = prefix / "share" / name
        check(file.is_file() and file.read_text().startswith(beginning), f"share/{name} is not installed")
    for script in ("plot.py", "report.py"):
        (prefix / "share/foredraft/plots" / script).write_text(STAND_IN)
    done = subprocess.run([program, "sweep", "sweep.toml", "--out", "drawn"], cwd=folder, capture_output=True, text=True)
    check(done.returncode == 0, f"sweep: {done.stderr}")
    check((folder / "drawn/drawn").exists() or "no Python with matplotlib" in done.stderr,
          f"the installed program does not start the installed plots: {done.stderr}")


def main():
    source, build, cmake, compiler, version = sys.argv[1:]
    source = pathlib.Path(source).resolve()
    os.environ.pop("FOREDRAFT_PLOTS", None)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary).resolve()
        run(cmake, "--install", build, "--prefix", folder / "first")
        prefix = (folder / "first").rename(folder / "prefix")
        public = check_headers(source, prefix)
        check_library(source, prefix)
        check((prefix / "share/doc/foredraft/LICENSE").is_file(), "LICENSE is not installed")
        build_consumer(source, prefix, folder / "consumer", cmake, compiler, public)
        check_program(prefix, folder / "consumer", version)
    if failed:
        sys.exit("\n".join(failed))
    print(f"{len(public)} headers, a library and a program")


if __name__ == "__main__":
    main()
