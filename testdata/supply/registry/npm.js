#!/usr/bin/env node
// Starts the binary that the package of this system brings.
const { spawnSync } = require('node:child_process');

const name = process.platform === 'win32' ? 'quarry.exe' : 'quarry';
const musl = process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
const system = `${process.platform}-${process.arch}${musl ? '-musl' : ''}`;
let program;
try {
  program = require.resolve(`quarry-lsp-${system}/${name}`);
} catch {
  console.error(`quarry: there is no package for ${system}, or npm was told to leave optional packages out; install with --include=optional`);
  process.exit(1);
}
// The folder of the program may have a version in its name; setup writes the name on the PATH instead.
const env = { ...process.env, QUARRY_LAUNCHER: process.argv[1] };
const ended = spawnSync(program, process.argv.slice(2), { stdio: 'inherit', env });
if (ended.error) {
  console.error(`quarry: ${program} does not start: ${ended.error.message}`);
}
process.exit(ended.status ?? 1);
