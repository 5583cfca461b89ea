// Packs the extension that is built, into dist/quarry.vsix or the file that it is told. Where the environment's SITE is the address of the repository's page, the package names it, and the links
// of its README lead there: a store shows the README alone.
//
// The changed text of a diff has a language of its own (src/proposals.ts), of which package.json has the defaults. Here it gets one more for
// each language of colours.json, coloured as that: these are of no other use, and VS Code has no shorter way to say so.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const site = process.env.SITE?.replace(/\/+$/, '');
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
let readme = readFileSync('README.md', 'utf8');

if (site) {
  manifest.homepage = `${site}#readme`;
  manifest.bugs = { url: `${site}/issues` };
  manifest.repository = { type: 'git', url: `${site}.git`, directory: 'editors/vscode' };
  readme = readme.replaceAll(/(!?\[[^[\]]*\])\(\.\.\/\.\.\/([^)]+)\)/g, (_, text, path) =>
    `${text}(${site}/${text.startsWith('!') ? 'raw' : 'blob'}/HEAD/${path})`);
}
const folder = join('dist', 'package');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const colours = Object.entries(JSON.parse(readFileSync('colours.json', 'utf8')));
const { languages, configurationDefaults } = manifest.contributes;
const [{ id: plain }] = languages;
mkdirSync(join(folder, 'colours'));
manifest.contributes.grammars = colours.map(([language, scope]) => {
  const grammar = { language: `${plain}-${language}`, scopeName: `${plain}.${scope}`, path: `./colours/${language}.json` };
  writeFileSync(join(folder, grammar.path), JSON.stringify({ scopeName: grammar.scopeName, patterns: [{ include: scope }] }));
  languages.push({ id: grammar.language, aliases: [] });
  return grammar;
});
manifest.contributes.configurationDefaults = Object.fromEntries(languages.map(({ id }) => [`[${id}]`, configurationDefaults[`[${plain}]`]]));
for (const file of manifest.files.filter((name) => name !== 'colours')) {
  if (file === 'LICENCES.txt') {
    writeFileSync(join(folder, file), licences());
  } else {
    cpSync(file === 'LICENSE' ? join('..', '..', file) : file, join(folder, file), { recursive: true });
  }
}
writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
writeFileSync(join(folder, 'README.md'), readme);

const args = ['package', '--no-dependencies', '--no-rewrite-relative-links', '--out', resolve(process.argv[2] ?? join('dist', 'quarry.vsix'))];
const { status, error } = spawnSync(resolve('node_modules', '.bin', 'vsce'), site ? args : [...args, '--allow-missing-repository'], { cwd: folder, stdio: 'inherit' });
if (error) {
  throw error;
}
process.exitCode = status ?? 1;

// The licences of what the bundle holds of others, as the builder's own list of its inputs names it, in the form of the archives' file LICENCES.
function licences() {
  const { inputs } = JSON.parse(readFileSync(join('dist', 'bundled.json'), 'utf8'));
  const packages = new Set(Object.keys(inputs).flatMap((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []));
  return [...packages].sort().map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const files = readdirSync(path).filter((file) => /^(licen[cs]e|copying|third-?party-?notices?)([-.].*)?$/i.test(file)).sort();
    if (!files.some((file) => /^(licen|copying)/i.test(file))) {
      throw new Error(`${name} ${version} has no licence: it may not be given to others`);
    }
    return files.map((file) => `==== ${name} ${version}: ${file}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n\n`).join('');
  }).join('');
}
