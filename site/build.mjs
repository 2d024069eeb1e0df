// Writes the pages of the site, and the sources of its book for mdbook. scripts/site calls it.
//
// node build.mjs REPOSITORY SITE BOOK PLAYS RECORDING ADDRESS: the folder of the site, that of
// the book's sources, that of the games that were built, a file with what `examples/lines.rs` has
// printed, and the address of the repository, which may be empty.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { escape, highlight } from './highlight.mjs';

const [root, site, book, plays, recording, address] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const tracked = new Set(execFileSync('git', ['-C', root, 'ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n').filter((path) => path && existsSync(join(root, path))));
const crates = ['framestep', 'framestep_durable', 'framestep_durable_macros', 'framestep_live', 'framestep_timeline',
  'framestep_panel', 'bevy_framestep', 'godot_framestep'];

const hasReference = (name) => existsSync(join(site, 'reference', name, 'index.html'));

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

// -- The frame of a page ----------------------------------------------------------------------

/// The links at the top of each page; `up` is the way to the folder of the site.
function bar(up, current) {
  const links = [['framestep', 'index.html'], ['Gallery', 'gallery/index.html'],
    ['Guide', 'book/docs/guide/index.html'], ['Recipes', 'book/docs/guide/recipes.html'],
    ['Reference', 'reference/index.html'], ['Comparison', 'book/COMPARE.html']];
  const items = links.filter(([, to]) => to !== 'book/COMPARE.html' || tracked.has('COMPARE.md'))
    .map(([words, to]) => `<a href="${up}${to}"${to === current ? ' aria-current="page"' : ''}>${words}</a>`);
  if (address) items.push(`<a href="${escape(address)}">Repository</a>`);
  return `<nav class="site-bar" aria-label="Site">${items.join('')}`;
}

function page({ path, title, body, scripts = '', about = '' }) {
  const up = '../'.repeat(path.split('/').length - 1);
  write(join(site, path), `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${escape(title)}</title>
  ${about ? `<meta name="description" content="${escape(about)}">` : ''}
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${up}look.css">
  <script src="${up}theme.js"></script>
</head>
<body class="site">
${bar(up, path)}<button type="button">light / dark</button></nav>
<main>
${body}
</main>
${scripts}
</body>
</html>
`);
}

// -- The book ---------------------------------------------------------------------------------

const chapters = [
  ['README.md', 'About framestep'],
  ['# The guide'],
  ['docs/guide/README.md', 'What to read'],
  ...['first-game', 'state-and-owners', 'several', 'stopping', 'waits', 'time', 'pausing', 'tables', 'recipes', 'compiler']
    .map((name) => [`docs/guide/${name}.md`]),
  ['# Run scripts'],
  ...['engines', 'hosts', 'web', 'performance', 'mods', 'live', 'hot-reload'].map((name) => [`docs/guide/${name}.md`]),
  ['# Save and repeat'],
  ...['determinism', 'saving', 'porting', 'saves'].map((name) => [`docs/guide/${name}.md`]),
  ['# Find bugs'],
  ...['testing', 'inspecting', 'panel', 'timeline', 'tracing', 'lints'].map((name) => [`docs/guide/${name}.md`]),
  ['# Coming from'],
  ...['unity', 'unitask', 'ue5coro', 'godot', 'tokio', 'bevy', 'bevy_defer', 'bevy_flurx']
    .map((name) => [`docs/guide/coming-from/${name}.md`]),
  ['# Compare'],
  ['COMPARE.md'], ['benches/compare/README.md'],
  ['# Packages'],
  ['durable/README.md'], ['durable/macros/README.md'], ['live/README.md'], ['engines/bevy_framestep/README.md'],
  ['engines/bevy_framestep/docs/tutorial.md'], ['engines/godot_framestep/README.md'],
  ['tools/framestep_timeline/README.md'], ['tools/framestep_panel/README.md'],
  ['# The project'],
  ['docs/contract.md'], ['docs/design.md'], ['docs/reliability.md'], ['ARCHITECTURE.md'], ['CONTRIBUTING.md'],
  ['CHANGELOG.md'], ['SECURITY.md'], ['examples/README.md'],
].filter(([path]) => path.startsWith('# ') || tracked.has(path));
// New chapters of the guide find their way in by themselves.
const listed = new Set(chapters.map(([path]) => path));
const others = [...tracked].filter((path) => /^docs\/guide\/.*\.md$/.test(path) && !listed.has(path));
const place = chapters.findIndex(([path]) => path === '# Run scripts');
chapters.splice(place, 0, ...others.map((path) => [path]));
const inBook = new Set(chapters.map(([path]) => path).filter((path) => path.endsWith('.md')));

const sources = new Set();
const folders = new Map();
const dropped = new Map();
const inSource = (path) => path.replace(/README\.md$/, 'index.md');
const kinds = { picture: /\.(png|svg|webp|gif|jpg)$/ };

/// Where a link of a file of the repository leads to on the site, or nothing.
function target(from, href) {
  const up = '../'.repeat(from.split('/').length - 1);
  const reference = /^https:\/\/docs\.rs\/(\w+)\/?(?:[\w.~-]+\/\1\/(.*))?$/.exec(href);
  if (reference && crates.includes(reference[1]) && hasReference(reference[1])) return `${up}../reference/${reference[1]}/${reference[2] ?? 'index.html'}`;
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path, anchor] = href.split('#');
  let to = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, '');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (to === '.') to = 'README.md';
  if (tracked.has(`${to}/README.md`)) to = `${to}/README.md`;
  if (to.endsWith('.md') && tracked.has(to) && !inBook.has(to)) {
    chapters.push([to]);
    inBook.add(to);
  }
  if (inBook.has(to)) return (posix.relative(posix.dirname(from), inSource(to)) || inSource(to)) + hash;
  if (!tracked.has(to)) {
    const files = [...tracked].filter((path) => path.startsWith(`${to}/`));
    if (files.length === 0) return undefined;
    folders.set(to, files);
    for (const file of files) if (!kinds.picture.test(file)) sources.add(file);
    return `${up}../source/${to}/index.html`;
  }
  if (kinds.picture.test(to)) {
    mkdirSync(dirname(join(book, to)), { recursive: true });
    cpSync(join(root, to), join(book, to));
    return posix.relative(posix.dirname(from), to);
  }
  sources.add(to);
  return `${up}../source/${to}.html${hash}`;
}

/// The Markdown of a file with the links of the site.
function relink(from, text) {
  const parts = text.split(/^((?:```|~~~).*\n[\s\S]*?^(?:```|~~~)[ ]*\n?)/m);
  const link = /(!?)\[((?:[^[\]]|!?\[[^[\]]*\](?:\([^)]*\))?)*)\]\(([^()\s]+)\)/g;
  const one = (whole, mark, words, href) => {
    // A picture that is a link.
    const inside = words.replace(link, one);
    const to = target(from, href);
    if (to !== undefined) return `${mark}[${inside}](${to})`;
    if (address && tracked.size > 0) {
      const path = posix.normalize(posix.join(posix.dirname(from), href));
      if (existsSync(join(root, path))) return `${mark}[${inside}](${address}/tree/main/${path})`;
    }
    // Rustdoc reads this page, too, and knows what is meant.
    if (!/^\w+(::\w+)*$/.test(href)) dropped.set(`${from}: ${href}`, inside);
    return inside;
  };
  const definition = (whole, name, href) => {
    const to = target(from, href);
    return to === undefined ? '' : `[${name}]: ${to}`;
  };
  return parts.map((part, index) => (index % 2 === 1 ? part
    : part.replace(link, one).replace(/^\[([^\]\n]+)\]: (\S+)$/gm, definition))).join('');
}

const heading = (text) => /^# (.*)$/m.exec(text.replace(/^```[\s\S]*?^```/gm, ''))?.[1].replaceAll('`', '') ?? 'page';
const summary = ['# Summary', ''];
// Grows while it is read: pages that others link to come last.
for (const [path, name] of chapters) {
  if (path.startsWith('# ')) {
    summary.push('', path, '');
    continue;
  }
  let text = read(path);
  // Badges are for the pages of the repository and the registry.
  if (path === 'README.md') text = text.replace(/^\[!\[.*\n/gm, '');
  write(join(book, inSource(path)), relink(path, text));
  const line = `[${(name ?? heading(text)).replaceAll('[', '').replaceAll(']', '')}](${inSource(path)})`;
  summary.push(path === 'README.md' ? line : `- ${line}`);
}
write(join(book, 'SUMMARY.md'), `${summary.join('\n')}\n`);
for (const [where, words] of dropped) console.log(`no page for a link: ${where} (${words})`);

const theme = join(dirname(book), 'theme');
write(join(theme, 'header.hbs'), `${bar('{{ path_to_root }}../', '')}</nav>\n`);

// -- Sources that pages link to ---------------------------------------------------------------

for (const path of sources) {
  const text = read(path);
  page({
    path: `source/${path}.html`, title: path,
    body: `<h1 class="path">${escape(path)}</h1>\n${highlight(text, { isRust: path.endsWith('.rs') })}`,
  });
}

for (const [folder, files] of folders) {
  const items = files.filter((path) => sources.has(path))
    .map((path) => `<li><a href="${posix.relative(folder, path)}.html">${escape(posix.relative(folder, path))}</a></li>`);
  page({ path: `source/${folder}/index.html`, title: folder, body: `<h1 class="path">${escape(folder)}</h1>\n<ul>${items.join('')}</ul>` });
}

// -- The gallery ------------------------------------------------------------------------------

const scenes = JSON.parse(readFileSync(join(here, 'scenes.json'), 'utf8'));
const size = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} KB` : `${(bytes / 1e6).toFixed(1)} MB`);
const cards = [];
for (const scene of scenes) {
  const folder = join(plays, scene.id);
  const isBuilt = existsSync(join(folder, scene.wasm));
  const picture = scene.picture && existsSync(join(root, scene.picture)) ? join(root, scene.picture)
    : existsSync(join(folder, 'picture.png')) ? join(folder, 'picture.png') : undefined;
  const still = picture && `pictures/${scene.id}${extname(picture)}`;
  if (still) {
    mkdirSync(join(site, 'pictures'), { recursive: true });
    cpSync(picture, join(site, still));
  }
  const moving = existsSync(join(folder, 'moving.webp')) ? `pictures/${scene.id}-moving.webp` : undefined;
  if (moving) {
    mkdirSync(join(site, 'pictures'), { recursive: true });
    cpSync(join(folder, 'moving.webp'), join(site, moving));
  }
  const sources = scene.files.map((file) => [file, read(`${scene.package}/src/${file}`)]);
  const lines = sources.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0);
  let sizes = 'Not built on the machine that made this site: it takes a compiler for the web.';
  if (isBuilt) {
    const wasm = readFileSync(join(folder, scene.wasm));
    sizes = `${size(wasm.length)} of WebAssembly, ${size(gzipSync(wasm).length)} compressed.`;
    cpSync(folder, join(site, 'play', scene.id), { recursive: true });
    const index = join(site, 'play', scene.id, 'index.html');
    const html = readFileSync(index, 'utf8');
    write(index, html.replace('</head>', '  <script src="bridge.js"></script>\n</head>'));
    cpSync(join(here, 'bridge.js'), join(site, 'play', scene.id, 'bridge.js'));
  }
  const card = (up) => `<li>${still ? `<a href="${up}gallery/${scene.id}.html"><img src="${up}${moving ?? still}" alt="" loading="lazy"></a>` : ''}
  <div class="words"><h2><a href="${up}gallery/${scene.id}.html">${escape(scene.title)}</a></h2>
  <p>${escape(scene.says)}</p><p class="dim">${escape(sizes)}</p></div></li>`;
  cards.push(card);
  const query = scene.query ?? '';
  const play = `../play/${scene.id}/index.html`;
  const stage = isBuilt ? `<div class="stage" style="--aspect: ${scene.aspect}" data-title="${escape(scene.title)}"
  data-play="${play}${query}" data-follow='${escape(JSON.stringify(scene.follow))}'>
  <button class="start" type="button"${still ? ` style="background-image: url('../${still}')"` : ''}><span>Play</span></button></div>
<div class="keys" aria-label="Keys of the game">${scene.keys.map(([words, code]) =>
    `<button type="button" data-code="${code}">${escape(words)}</button>`).join('')}</div>
<p>${escape(scene.words)} ${escape(scene.play)}</p>
<p class="dim">${escape(sizes)} <span id="figures"></span> <a href="${play}">The game alone</a></p>`
    : `${still ? `<img src="../${still}" alt="${escape(scene.title)}">` : ''}<p class="dim">${escape(sizes)}</p>`;
  const follow = isBuilt ? `<div class="follow"><label for="followed">Follow</label>
<select id="followed"><option value="story">${scene.follow.length > 0 ? 'the story' : 'what waits here'}</option><option value="nothing">nothing</option></select>
<span class="dim">A marked line is an <code>.await</code> where a script waits now.</span></div>` : '';
  page({
    path: `gallery/${scene.id}.html`, title: `${scene.title}: framestep`, about: scene.says,
    body: `<h1>${escape(scene.title)}</h1>
<p class="lead">${escape(scene.says)}</p>
<div class="two"><section aria-label="Game">${stage}</section>
<section aria-label="Code">${follow}<div class="files" role="tablist">${sources.map(([file], index) =>
    `<button type="button" role="tab" aria-selected="${index === 0}" data-file="${file}">${file} <small></small></button>`).join('')}</div>
<div class="panes">${sources.map(([file, text], index) => `<div data-file="${file}"${index === 0 ? '' : ' hidden'}>${
    highlight(text, { prefix: `${basename(file, '.rs')}-` })}</div>`).join('\n')}</div>
<p class="dim">${lines} lines, as they are compiled.</p></section></div>`,
    scripts: isBuilt ? '<script src="../scene.js"></script>' : `<script>
  for (const tab of document.querySelectorAll('.files button')) tab.addEventListener('click', () => {
    for (const each of document.querySelectorAll('.files button')) each.setAttribute('aria-selected', each === tab);
    for (const pane of document.querySelectorAll('.panes [data-file]')) pane.hidden = pane.dataset.file !== tab.dataset.file;
  });
</script>`,
  });
}
page({
  path: 'gallery/index.html', title: 'Gallery: framestep',
  body: `<h1>Gallery</h1>
<p class="lead">Programs that run in this browser, each beside the code of its scripts. The lines where scripts wait are
marked while they wait.</p>
<ul class="cards">${cards.map((card) => card('../')).join('\n')}</ul>`,
});

// -- The first page ---------------------------------------------------------------------------

/// What `examples/lines.rs` has printed, by frame.
function record() {
  const frames = [];
  let printed = [];
  for (const line of readFileSync(recording, 'utf8').split('\n')) {
    const wait = /^ {3}(\S+) waits at line (\d+) for (.*)$/.exec(line);
    if (/^after frame \d+$/.test(line)) {
      frames.push({ printed, waits: [] });
      printed = [];
    } else if (wait) {
      const [, name, at, what] = wait;
      frames.at(-1).waits.push({ name: name.split('::').at(-1), line: Number(at), wait: what });
    } else if (line) {
      printed.push(line);
    }
  }
  if (frames.length < 3) throw new Error('examples/lines.rs prints no frames');
  return frames;
}
const script = read('examples/lines.rs').split('\n');
const first = script.findIndex((line) => line.startsWith('async fn'));
const last = script.findIndex((line) => line.startsWith('fn main'));
const code = highlight(script.slice(first, last).join('\n').trimEnd());
const movie = existsSync(join(site, 'pictures/boss-moving.webp')) ? 'boss-moving.webp' : 'boss.png';
page({
  path: 'index.html', title: 'framestep: gameplay scripts as async fns',
  about: 'An async/await executor for games and simulations in Rust: gameplay scripts are plain async fns.',
  body: `<h1>Gameplay scripts are <code>async fn</code>s.</h1>
<p class="lead">framestep is an async executor for games in Rust. A script waits for frames, seconds, events and other
scripts with <code>.await</code>. Your game loop, or Bevy, calls the executor once a frame.</p>
<p class="actions"><a href="book/docs/guide/first-game.html">Write a first game in ten minutes</a>
<a href="gallery/index.html">Play in the browser</a><a href="reference/${hasReference('framestep') ? 'framestep/' : ''}index.html">Reference</a></p>
<div class="two" id="first"><section aria-label="Scripts">${code.replace('<pre class="code"', `<pre class="code" data-first="${first + 1}"`)}
<p class="dim">A frame here takes a quarter of a second. The marked line is where a script waits after the frame.</p></section>
<section aria-label="Frames"><ol class="frames"></ol><pre class="output" aria-live="off"></pre>
<p class="dim">Recorded from <a href="source/examples/lines.rs.html">a run of this program</a>.</p></section></div>
<h2>What it looks like in a game</h2>
<p>Each bullet, each enemy, the boss and the dialogue is a script: some 2,700 of them. <a href="gallery/boss.html">Play it</a>.</p>
<a href="gallery/boss.html"><img src="pictures/${movie}" alt="A boss amid rings of bullets, beside the numbers of the executor"></a>
<h2>What it promises</h2>
<ul>
<li>The order of scripts is fixed: the same inputs lead to the same run, in debug, in release and in the browser.</li>
<li>A script ends with its owner: an enemy, a menu, a level, a Bevy entity. A panic ends one script, not the game.</li>
<li>Scripts that sleep cost nothing. The crate starts no thread and reads no clock.</li>
<li>Durable scripts can be saved in the middle of an <code>.await</code>, rewound and rolled back.</li>
</ul>
<p>Each promise has <a href="book/docs/reliability.html">a test</a>, and each wait has <a href="book/docs/contract.html">a
rule</a> that says in which frame it ends. <a href="book/${tracked.has('COMPARE.md') ? 'COMPARE' : 'benches/compare/index'}.html">Compare it</a>
with Unity's coroutines, UniTask, UE5Coro, <code>bevy_defer</code> and others.</p>
<h2>You know another system?</h2>
<p class="actions">${[['unity', 'Unity'], ['unitask', 'UniTask'], ['ue5coro', 'UE5Coro'], ['godot', 'Godot'], ['tokio', 'tokio'],
    ['bevy', 'Bevy systems'], ['bevy_defer', 'bevy_defer'], ['bevy_flurx', 'bevy_flurx']].map(([file, name]) =>
    `<a class="button" style="background: var(--raised); color: var(--ink); border-color: var(--edge)" href="book/docs/guide/coming-from/${file}.html">${name}</a>`).join('')}</p>`,
  scripts: `<script id="run" type="application/json">${JSON.stringify(record())}</script>\n<script src="home.js"></script>`,
});
sources.add('examples/lines.rs');
page({
  path: 'source/examples/lines.rs.html', title: 'examples/lines.rs',
  body: `<h1 class="path">examples/lines.rs</h1>\n${highlight(read('examples/lines.rs'))}`,
});

// -- The reference, if it was built -----------------------------------------------------------

const built = crates.filter(hasReference);
const about = (name) => /^description = "(.*)"$/m.exec(read(execFileSync('git', ['-C', root, 'ls-files', '*Cargo.toml'],
  { encoding: 'utf8' }).split('\n').find((path) => path && read(path).includes(`\nname = "${name}"\n`))))?.[1] ?? '';
page({
  path: 'reference/index.html', title: 'Reference: framestep',
  body: `<h1>Reference</h1>
<p class="lead">Each wait says when it resumes, what it returns, and what dropping it does.</p>
<ul class="cards">${built.map((name) => `<li><div class="words"><h2><a href="${name}/index.html">${name}</a></h2>
<p>${escape(about(name))}</p></div></li>`).join('\n')}</ul>${crates.length === built.length ? ''
    : `<p class="dim">Not built here: ${crates.filter((name) => !built.includes(name)).join(', ')}.</p>`}`,
});

for (const file of ['look.css', 'theme.js', 'scene.js', 'home.js']) cpSync(join(here, file), join(site, file));
const total = statSync(join(site, 'index.html')).size;
console.log(`${inBook.size} chapters, ${sources.size} sources, ${scenes.length} scenes, ${built.length} packages; the first page: ${size(total)}`);
