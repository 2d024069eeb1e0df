// Fails if a package states an older Rust than one of its locked dependencies needs.
//
// node rust-versions.mjs PACKAGE[:FEATURE,..]..: a package of the workspace, with these features

import { execFileSync } from 'node:child_process';

const cargo = (...args) => execFileSync('cargo', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
const { packages } = JSON.parse(cargo('metadata', '--format-version', '1', '--locked'));
const stated = new Map(packages.map(({ name, version, rust_version }) => [`${name} v${version}`, rust_version]));
const number = (version) => version.split('.').slice(0, 2).reduce((sum, part) => sum * 1000 + Number(part), 0);
let failed = false;
for (const [name, features] of process.argv.slice(2).map((each) => each.split(':'))) {
  const lines = cargo('tree', '--locked', '--package', name, ...(features ? ['--features', features] : []),
    '--edges', 'normal,build', '--prefix', 'none', '--format', '{p}').trim().split('\n');
  const tree = [...new Set(lines.map((line) => line.split(' ').slice(0, 2).join(' ')))];
  const own = stated.get(tree[0]);
  const newer = tree.filter((each) => stated.get(each) && number(stated.get(each)) > number(own))
    .map((each) => `${each} (${stated.get(each)})`);
  if (newer.length > 0) failed = true;
  console.log(`${name} ${own}: ${newer.length > 0 ? `FAILED, newer: ${newer.join(', ')}` : `ok, ${tree.length} packages`}`);
}
process.exit(failed ? 1 : 0);
