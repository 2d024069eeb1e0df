// Does on WebAssembly what src/main.rs does: node run.mjs WASM trace | save DIR | load DIR.
// `trace` also checks what holds without a clock, and where panics abort.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [wasm, command, folder] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(wasm), {});
const { exports } = instance;

/// The bytes that a call has handed over.
function taken(length) {
  return Buffer.from(new Uint8Array(exports.memory.buffer, exports.bytes_at(), length));
}

/// All that the game saves from now on.
function rest() {
  const files = [taken(exports.save())];
  while (exports.play_on()) files.push(taken(exports.save()));
  return files;
}

function load() {
  const names = readdirSync(folder).sort();
  const files = names.map((name) => readFileSync(join(folder, name)));
  files.forEach((file, from) => {
    exports.make_room(file.length);
    new Uint8Array(exports.memory.buffer, exports.bytes_at(), file.length).set(file);
    if (!exports.load()) throw new Error(`${names[from]} cannot be loaded`);
    const saved = rest();
    const at = saved.findIndex((one, after) => !files[from + after]?.equals(one));
    if (at >= 0) throw new Error(`loaded from ${names[from]}, the game differs ${at} saves later`);
    if (from + saved.length !== files.length) throw new Error(`${names[from]}: too few saves`);
  });
}

switch (command) {
  case 'trace':
    process.stdout.write(taken(exports.make_trace()));
    if (!exports.works_without_clock()) throw new Error('something is wrong without a clock');
    if (!exports.divergences_are_errors()) throw new Error('a changed script is no error');
    break;
  case 'save':
    rest().forEach((file, number) => writeFileSync(join(folder, `${number + 10}.save`), file));
    break;
  case 'load':
    load();
    break;
  default:
    throw new Error('usage: node run.mjs WASM trace | save DIR | load DIR');
}
