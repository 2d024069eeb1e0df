// Prepares the packages of a copy of the repository for a registry: writes the address of the
// repository into their manifests, and gives their READMEs, and the files that their first pages of
// docs.rs name, links that lead somewhere from there. Checks what a registry asks for and cargo does not.
//
// node packages.mjs FOLDER ADDRESS: prints names and versions. Fails with all that is wrong.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';

const [root, address] = process.argv.slice(2);
const problems = [];
const problem = (words) => problems.push(words);

if (address && !/^https:\/\/[^\s/]+\/\S+[^\s/]$/.test(address)) {
  problem(`scripts/release/address: "${address}" is not an address like https://example.org/you/framestep`);
}

// framestep_live is in a workspace of its own.
const packages = ['Cargo.toml', 'crates/framestep_live/Cargo.toml'].flatMap((manifest) => JSON.parse(execFileSync('cargo',
  ['metadata', '--no-deps', '--format-version', '1', '--manifest-path', join(root, manifest)], { maxBuffer: 2 ** 28 })).packages)
  .filter(({ publish }) => publish === null)
  .map((each) => ({ ...each, folder: relative(root, dirname(each.manifest_path)) || '.' }));
const version = packages.find(({ name }) => name === 'framestep').version;

const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
if (!changelog.includes(`\n## [${version}]`)) problem(`CHANGELOG.md has no heading for ${version}`);
for (const { name, folder, version: its, keywords, categories, features, metadata, ...about } of packages) {
  if (its !== version) problem(`${name}: its version is ${its}, that of framestep ${version}`);
  for (const key of ['description', 'license', 'readme', 'documentation', 'rust_version']) {
    if (!about[key]) problem(`${name}: no ${key}`);
  }
  if (about.description?.length > 150) problem(`${name}: its description is cut off in searches`);
  if (keywords.length === 0 || keywords.length > 5) problem(`${name}: ${keywords.length} keywords, of 1 to 5`);
  const bad = keywords.filter((word) => word.length > 20 || !/^[a-z][\w+-]*$/i.test(word));
  if (bad.length > 0) problem(`${name}: the registry takes no keyword like ${bad.join(', ')}`);
  if (categories.length === 0 || categories.length > 5) problem(`${name}: ${categories.length} categories, of 1 to 5`);
  if (Object.keys(features).length > 0 && !metadata?.docs?.rs) {
    problem(`${name}: has features, and does not say with which of them docs.rs documents it`);
  }
  for (const file of ['LICENSE-MIT', 'LICENSE-APACHE']) {
    if (!existsSync(join(root, folder, file))) problem(`${name}: no ${file}`);
  }
}

// -- The READMEs as pages by themselves -------------------------------------------------------

const docs = (name) => `https://docs.rs/${name}`;
const link = /(!?)\[((?:[^[\]]|!?\[[^[\]]*\])*)\]\(([^()\s]+)\)/g;
/// What is true only before it is published: a sentence, and dependencies by a path.
const asPublished = (name, text) => text
  .replace(/^[^\n]*\bis not published yet\b[\s\S]*?`cargo add [^`]*`\./m, `\`cargo add ${name}\` adds it to your game.`)
  .replace(/^( *\w+ = )\{ path = "[^"]*" \}$/gm, (whole, before) => `${before}"${version}"`);
for (const { name, folder } of packages) {
  const path = join(root, folder, 'README.md');
  const parts = asPublished(name, readFileSync(path, 'utf8')).split(/^((?:```|~~~).*\n[\s\S]*?^(?:```|~~~)[ ]*\n?)/m);
  const text = parts.map((part, index) => (index % 2 === 1 ? part : part.replace(link, (whole, mark, words, href) => {
    if (/^([a-z]+:|#)/.test(href)) return whole;
    const to = posix.normalize(posix.join(folder, href.split('#')[0])).replace(/\/$/, '');
    if (!existsSync(join(root, to))) {
      problem(`${folder}/README.md: ${href} leads nowhere`);
      return whole;
    }
    const other = packages.find((each) => each.folder === (to === '.' ? '.' : to.replace(/\/README\.md$/, '')));
    if (!mark && other && other.name !== name) return `[${words}](${docs(other.name)})`;
    if (address) {
      const kind = mark ? 'raw' : statSync(join(root, to)).isDirectory() ? 'tree' : 'blob';
      return `${mark}[${words}](${address}/${kind}/v${version}/${to}${href.includes('#') ? `#${href.split('#')[1]}` : ''})`;
    }
    // Without an address, words without a link; and no picture.
    return mark ? '' : words;
  }))).join('').replace(/\n{3,}/g, '\n\n');
  const badges = address ? `[![version](https://img.shields.io/crates/v/${name})](https://crates.io/crates/${name})
[![documentation](https://img.shields.io/docsrs/${name})](${docs(name)})\n\n` : '';
  if (/not published|\bpath = "/.test(text)) problem(`${folder}/README.md: says on its page that it is not published`);
  writeFileSync(path, text.replace(/^(# .*\n\n)/, `$1${badges}`));
  if (address) {
    // A page of docs.rs names files of the repository, which are not there.
    const lib = join(root, folder, 'src/lib.rs');
    writeFileSync(lib, readFileSync(lib, 'utf8').replace(/^\/\/[!/].*$/gm, (line) => line.replace(/(?<!\[)`(docs\/[\w./-]+)`/g, (name, to) => {
      if (!existsSync(join(root, to))) {
        problem(`${folder}/src/lib.rs: ${to} leads nowhere`);
        return name;
      }
      return `[${name}](${address}/${statSync(join(root, to)).isDirectory() ? 'tree' : 'blob'}/v${version}/${to})`;
    })));
    const manifest = join(root, folder, 'Cargo.toml');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/^license\b.*\n/m, `$&repository = "${address}"\n`));
  }
}

if (problems.length > 0) {
  console.error(problems.map((words) => `  ${words}`).join('\n'));
  process.exit(1);
}
console.log(packages.map(({ name }) => `${name} ${version}`).join('\n'));
