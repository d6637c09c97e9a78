# SPDX-License-Identifier: Apache-2.0
"""What a results folder must hold, whatever happened to the runs that wrote it."""
import hashlib
import json
import re
import shutil

LEFTOVER = re.compile(r".*\.foredraft-(lock|tmp-).*")  # a killed process may leave it; the next one removes it
PROGRESS = ("run", "program", "state", "inputs", "outputs", "figures", "report")  # keys of a manifest


class Lost(Exception):
    """What was lost, in words that are equal for every instance of one fault, and the details."""

    def __init__(self, what, details=""):
        super().__init__(f"{what}: {details}" if details else what)
        self.what = what


def read_folder(folder):
    """name -> bytes; for a file that cannot be the program's, its kind instead of bytes."""
    files = {}
    if not folder.exists():
        return files
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or not path.is_file():
            raise Lost("not a regular file", path.name)
        files[path.name] = path.read_bytes()
    return files


def write_folder(folder, files):
    shutil.rmtree(folder, ignore_errors=True)
    if files is None:
        return
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def digest(content):
    return hashlib.sha256(content).hexdigest()


def without_run(manifest):
    return {key: value for key, value in manifest.items() if key not in ("run", "program")}


def parsed(name, content):
    try:
        return json.loads(content)
    except ValueError as error:
        raise Lost("a torn document", f"{name}: {error}") from error


def owners(manifest, cases):
    """The cases that may have written this folder, by the keys in which their manifests differ."""
    keys = {key for case in cases for key in case.manifest if key not in PROGRESS}
    keys = [key for key in sorted(keys) if any(case.manifest.get(key) != cases[0].manifest.get(key) for case in cases)]
    found = [case for case in cases if all(manifest.get(key) == case.manifest.get(key) for key in keys)]
    if not found:
        raise Lost("a manifest of no run that was started", {key: manifest.get(key) for key in keys})
    return found


def inspect(folder, cases, *, finished=False, leftovers=False, before=None):
    """Compares a folder with the references of the cases that ran in it; returns those that may have written it.

    finished: a run has ended with 0. leftovers: a process was killed since. before: the earlier files; none of their
    bytes may be lost.
    """
    files = read_folder(folder)
    for name in [name for name in files if LEFTOVER.fullmatch(name)]:
        if not leftovers:
            raise Lost("a temporary file or lock stays behind", name)
        del files[name]
    if cases[0].volatile:
        for name, content in files.items():
            parsed(name, content)
        if finished and not files:
            raise Lost("a finished run left nothing")
        return cases
    manifest = parsed("manifest.json", files["manifest.json"]) if "manifest.json" in files else {}
    found = owners(manifest, cases) if manifest else cases
    complete = manifest.get("state") == "complete"
    if complete:
        check_outputs(manifest, files)
        found = [case for case in found if all(files[file["path"]] == case.wanted.get(file["path"])
                                               for file in manifest["outputs"])]
        if not found:
            raise Lost("a complete folder with bytes of no single run", outputs_text(manifest))
    strays = []
    for name, content in files.items():
        if name == "manifest.json":
            continue
        references = [case.wanted[name] for case in found if name in case.wanted]
        if not references:
            strays.append(name)
        elif name == "points.csv" and not complete:
            if not any(reference.startswith(content) for reference in references):
                raise Lost("points.csv is no prefix of the run", f"{len(content)} bytes")
        elif content not in references:
            raise Lost("a file is not whole", f"{name}: {len(content)} bytes of {len(references[0])}")
    if before:
        check_kept(before, files)
    if strays:
        raise Lost("a stray file", ", ".join(strays))
    if finished:
        found = [case for case in found if set(files) == set(case.wanted)]
        if not complete or not found:
            missing = sorted(set(cases[0].wanted) - set(files))
            raise Lost("a finished run is not complete", f"state {manifest.get('state')}, missing {missing}")
        if all(without_run(manifest) != without_run(case.manifest) for case in found):
            raise Lost("manifest.json differs from that of an undisturbed run")
    return found


def outputs_text(manifest):
    return ", ".join(f"{file['path']} {file['sha256'][:8]}" for file in manifest["outputs"])


def check_outputs(manifest, files):
    for file in manifest["outputs"]:
        content = files.get(file["path"])
        if content is None:
            raise Lost("a complete folder lacks an output", file["path"])
        if len(content) != file["bytes"] or digest(content) != file["sha256"]:
            raise Lost("an output of a complete folder has not its digest", file["path"])


def check_kept(before, files):
    """The complete rows of a growing file, and the names of all others (whose content is that of the reference)."""
    for name, content in before.items():
        if LEFTOVER.fullmatch(name):
            continue
        if name not in files:
            raise Lost("a file that was there is gone", name)
        if name == "points.csv" and not files[name].startswith(content[:content.rfind(b"\n") + 1]):
            raise Lost("rows that were there are gone", f"{len(files[name])} bytes of {len(content)}")


def results(folder):
    """The files of a folder without those that a killed process may leave."""
    return {name: content for name, content in read_folder(folder).items() if not LEFTOVER.fullmatch(name)}
