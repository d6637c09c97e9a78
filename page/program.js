// SPDX-License-Identifier: Apache-2.0
// The program as WebAssembly. `loadModule` comes from Emscripten, before the modules.

/** Contents of a file: bytes, or a Blob that is read in pieces. @typedef {Uint8Array | Blob} Content */

/**
 * Starts the program, which then answers any number of questions.
 * @param {WebAssembly.Module} compiled
 * @returns {Promise<{run: (argv: string[], files?: Record<string, Content>) => {code: number, stdout: string, stderr: string}}>}
 */
export async function loadProgram(compiled) {
  const module = await new Promise((resolve, reject) => {
    const instantiateWasm = (imports, use) => {
      WebAssembly.instantiate(compiled, imports).then((instance) => use(instance, compiled)).catch(reject);
      return {};
    };
    loadModule({ instantiateWasm }).then(resolve, reject);
  });
  const { FS, WORKERFS } = module;
  FS.mkdir("/input");
  FS.mkdir("/blobs");
  FS.chdir("/input");
  // stdout and stderr are files in memory, which get the descriptors that closing frees.
  const outputs = ["/stdout", "/stderr"].map((path, index) => {
    FS.close(FS.getStream(index + 1));
    return FS.open(path, "w+");
  });

  /** @param {{path: string}} stream @returns {string} output since the last call */
  const takeText = (stream) => {
    const bytes = FS.readFile(stream.path);
    FS.ftruncate(stream.fd, 0);
    stream.position = 0;
    return new TextDecoder().decode(bytes);
  };

  /** Copies bytes into the memory of the program while `use` runs. @param {Uint8Array} bytes */
  const withBytes = (bytes, use) => {
    const at = module._malloc(bytes.length + 1);
    module.HEAPU8.set(bytes, at);
    try {
      return use(at);
    } finally {
      module._free(at);
    }
  };

  /** Puts the files of one question into /input. @returns {() => void} removes them */
  const place = (files) => {
    const names = Object.keys(files).map((name) => name.replace(/^\/input\//, ""));
    const blobs = [];
    Object.values(files).forEach((content, index) => {
      const path = `/input/${names[index]}`;
      FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
      if (content instanceof Uint8Array) return FS.writeFile(path, content);
      blobs.push({ name: String(index), data: content });
      FS.symlink(`/blobs/${index}`, path);
    });
    if (blobs.length > 0) FS.mount(WORKERFS, { blobs }, "/blobs");
    return () => {
      for (const name of names) FS.unlink(`/input/${name}`);
      if (blobs.length > 0) FS.unmount("/blobs");
    };
  };

  return {
    run(argv, files = {}) {
      const clear = place(files);
      try {
        const words = new TextEncoder().encode(argv.map((word) => `${word}\0`).join(""));
        const code = withBytes(words, (at) => module._foredraft_run(at, words.length));
        const [stdout, stderr] = outputs.map(takeText);
        return { code, stdout, stderr };
      } finally {
        clear();
      }
    },
  };
}
