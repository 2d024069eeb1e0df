// Puts the packages that are published into a folder, as one workspace, so that cargo packages
// and builds them against each other before any of them is in a registry. There, the address of
// the repository is written into manifests and READMEs.
//
// node stage.mjs STAGE ADDRESS REGISTRY: prints the names of the packages, in the order in which
// they are published. Fails with all that is wrong. REGISTRY is `crates-io`, or where the packages
// find each other in its place.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const [stage, address, registry = 'crates-io'] = process.argv.slice(2);
const problems = [];
const problem = (words) => problems.push(words);

if (address && !/^https:\/\/[^\s/]+\/\S+[^\s/]$/.test(address)) {
  problem(`scripts/release/address: "${address}" is not an address like https://example.org/you/framestep`);
}

rmSync(stage, { recursive: true, force: true });
mkdirSync(stage, { recursive: true });
const archive = execFileSync('git', ['archive', 'HEAD'], { maxBuffer: 2 ** 30 });
execFileSync('tar', ['-x', '-C', stage], { input: archive });

// Dependencies first.
const folders = { framestep_durable_macros: 'crates/framestep_durable_macros', framestep: '.', framestep_durable: 'durable',
  framestep_timeline: 'crates/framestep_timeline', framestep_panel: 'crates/framestep_panel',
  bevy_framestep: 'crates/bevy_framestep', godot_framestep: 'crates/godot_framestep', framestep_live: 'live',
  framestep_rooms: 'rooms' };
for (const path of execFileSync('git', ['ls-files', '*Cargo.toml'], { encoding: 'utf8' }).trim().split('\n')) {
  const folder = dirname(path);
  const text = readFileSync(join(stage, path), 'utf8');
  if (/^\[package\]/m.test(text) && !/^publish = false/m.test(text) && !Object.values(folders).includes(folder)) {
    problem(`${path}: neither has \`publish = false\` nor is in the list of scripts/lib/stage.mjs`);
  }
}
const names = Object.keys(folders);
const manifest = (name) => join(stage, folders[name], 'Cargo.toml');
const texts = Object.fromEntries(names.map((name) => [name, readFileSync(manifest(name), 'utf8')]));
const field = (text, key) => new RegExp(`^${key} = "(.*)"$`, 'm').exec(text)?.[1];
const list = (text, key) => [...(new RegExp(`^${key} = \\[(.*)\\]$`, 'm').exec(text)?.[1] ?? '').matchAll(/"([^"]+)"/g)].map(([, each]) => each);

// -- What a registry and its readers need -----------------------------------------------------

const versions = Object.fromEntries(names.map((name) => [name, field(texts[name], 'version')]));
const own = /^(\w+) = \{ version = "=?([^"]+)", path = "[^"]+"/gm;
const published = [];
for (const name of names) {
  const text = texts[name];
  if (field(text, 'name') !== name) problem(`${name}: its manifest has another name`);
  for (const key of ['description', 'license', 'readme', 'documentation', 'rust-version', 'edition']) {
    if (!field(text, key)) problem(`${name}: no ${key}`);
  }
  if (field(text, 'description')?.length > 150) problem(`${name}: its description is cut off in searches`);
  const keywords = list(text, 'keywords');
  if (keywords.length === 0 || keywords.length > 5) problem(`${name}: ${keywords.length} keywords, of 1 to 5`);
  const bad = keywords.filter((word) => word.length > 20 || !/^[a-z][\w+-]*$/i.test(word));
  if (bad.length > 0) problem(`${name}: the registry takes no keyword like ${bad.join(', ')}`);
  const categories = list(text, 'categories').length;
  if (categories === 0 || categories > 5) problem(`${name}: ${categories} categories, of 1 to 5`);
  for (const file of ['README.md', 'LICENSE-MIT', 'LICENSE-APACHE']) {
    if (!existsSync(join(stage, folders[name], file))) problem(`${name}: no ${file}`);
  }
  if (/^\[features\]/m.test(text) && !/^\[package\.metadata\.docs\.rs\]/m.test(text)) {
    problem(`${name}: has features, and does not say with which of them docs.rs documents it`);
  }
  for (const [, dependency, version] of text.matchAll(own)) {
    if (versions[dependency] !== version) problem(`${name} asks for ${dependency} ${version}, which is ${versions[dependency]}`);
    if (!published.includes(dependency)) problem(`${name} is published before ${dependency}, which it needs`);
  }
  published.push(name);
}
const changelog = readFileSync(join(stage, 'CHANGELOG.md'), 'utf8');
for (const version of new Set(Object.values(versions))) {
  if (!changelog.includes(`\n## [${version}]`)) problem(`CHANGELOG.md has no heading for ${version}`);
}

// -- The READMEs as pages by themselves -------------------------------------------------------

const docs = (name) => `https://docs.rs/${name}`;
const link = /(!?)\[((?:[^[\]]|!?\[[^[\]]*\])*)\]\(([^()\s]+)\)/g;
/// What is true only before it is published: a sentence, and dependencies by a path.
const asPublished = (name, text) => text
  .replace(/^[^\n]*\bis not published yet\b[\s\S]*?`cargo add [^`]*`\./m, `\`cargo add ${name}\` adds it to your game.`)
  .replace(/^( *\w+ = )\{ path = "[^"]*" \}$/gm, (whole, before) => `${before}"${versions[before.trim().split(' ')[0]]}"`);
for (const name of names) {
  const folder = folders[name];
  const path = join(stage, folder, 'README.md');
  const parts = asPublished(name, readFileSync(path, 'utf8')).split(/^((?:```|~~~).*\n[\s\S]*?^(?:```|~~~)[ ]*\n?)/m);
  const text = parts.map((part, index) => (index % 2 === 1 ? part : part.replace(link, (whole, mark, words, href) => {
    if (/^([a-z]+:|#)/.test(href)) return whole;
    const to = posix.normalize(posix.join(folder, href.split('#')[0])).replace(/\/$/, '');
    if (!existsSync(join(stage, to))) {
      problem(`${folder}/README.md: ${href} leads nowhere`);
      return whole;
    }
    const package_ = names.find((other) => folders[other] === (to === '.' ? '.' : to.replace(/\/README\.md$/, '')));
    if (!mark && package_ && package_ !== name) return `[${words}](${docs(package_)})`;
    if (address) {
      const kind = mark ? 'raw' : statSync(join(stage, to)).isDirectory() ? 'tree' : 'blob';
      const hash = href.includes('#') ? `#${href.split('#')[1]}` : '';
      return `${mark}[${words}](${address}/${kind}/v${versions[name]}/${to}${hash})`;
    }
    // Without an address, words without a link; and no picture.
    return mark ? '' : words;
  }))).join('').replace(/\n{3,}/g, '\n\n');
  const badges = address ? `[![version](https://img.shields.io/crates/v/${name})](https://crates.io/crates/${name})
[![documentation](https://img.shields.io/docsrs/${name})](${docs(name)})\n\n` : '';
  if (/not published|\bpath = "/.test(text)) problem(`${folder}/README.md: says on its page that it is not published`);
  writeFileSync(path, text.replace(/^(# .*\n\n)/, `$1${badges}`));
}

// -- One workspace ----------------------------------------------------------------------------

for (const name of names) {
  let text = texts[name];
  // A workspace of its own becomes a member.
  if (name !== 'framestep') text = text.replace(/^\[workspace\]\n/m, '');
  if (registry !== 'crates-io') text = text.replace(own, (found) => `${found}, registry = "${registry}"`);
  if (address) text = text.replace(/^(license = .*\n)/m, `$1repository = "${address}"\n`);
  if (name === 'framestep') {
    const members = names.map((each) => folders[each]).filter((each) => each !== '.');
    text = text.replace(/^members = .*$/m, `members = ${JSON.stringify(members)}`).replace(/^default-members = .*$/m, '');
  }
  writeFileSync(manifest(name), text);
}
for (const other of ['engines', 'tools']) rmSync(join(stage, other, 'Cargo.toml'));
for (const lock of ['Cargo.lock', 'engines/Cargo.lock', 'tools/Cargo.lock', 'crates/framestep_live/Cargo.lock', 'crates/framestep_rooms/Cargo.lock']) {
  rmSync(join(stage, lock), { force: true });
}

if (problems.length > 0) {
  console.error(problems.map((words) => `  ${words}`).join('\n'));
  process.exit(1);
}
console.log(names.map((name) => `${name} ${versions[name]}`).join('\n'));
