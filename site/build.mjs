// Writes the pages of the site, and the sources of its book for mdbook. scripts/site calls it.
//
// node build.mjs REPOSITORY SITE BOOK PLAYS FRAMES ADDRESS: the folder of the site, that of the book's
// sources, that of the games that were built, that of the runs that site/frames has recorded, and the
// address of the repository, which may be empty.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { escape, highlight } from './highlight.mjs';

const [root, site, book, plays, recordings, address] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const tracked = new Set(execFileSync('git', ['-C', root, 'ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n').filter((path) => path && existsSync(join(root, path))));
const crates = ['framestep', 'framestep_durable', 'framestep_durable_macros', 'framestep_live', 'framestep_timeline',
  'framestep_panel', 'bevy_framestep', 'godot_framestep', 'framestep_rooms'];

const hasReference = (name) => existsSync(join(site, 'reference', name, 'index.html'));

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

// -- The frame of a page ----------------------------------------------------------------------

/// The links at the top of each page; `up` is the way to the folder of the site.
function bar(up, current) {
  const links = [['framestep', 'index.html'], ['Gallery', 'gallery/index.html'],
    ['Frame by frame', 'gallery/frames.html'], ['Guide', 'book/docs/guide/index.html'], ['Recipes', 'book/docs/guide/recipes.html'],
    ['Reference', 'reference/index.html'], ['Comparison', 'book/COMPARE.html']];
  const items = links
    .map(([words, to]) => `<a href="${up}${to}"${to === current ? ' aria-current="page"' : ''}>${words}</a>`);
  if (address) items.push(`<a href="${escape(address)}">Repository</a>`);
  return `<nav class="site-bar" aria-label="Site"><div>${items.join('')}</div>`;
}

const ofCrate = (key) => new RegExp(`^${key} = "(.*)"$`, 'm').exec(read('Cargo.toml'))[1];

function footer(up) {
  const links = [['First game', 'book/docs/guide/first-game.html'], ['Waits', 'book/docs/guide/waits.html'],
    ['Timing contract', 'book/docs/contract.html'], ['Changes', 'book/CHANGELOG.html'], ['Contributing', 'book/CONTRIBUTING.html']]
    .map(([words, to]) => `<a href="${up}${to}">${words}</a>`);
  if (address) links.push(`<a href="${escape(address)}">Repository</a>`);
  return `<footer><p>framestep ${ofCrate('version')}${address ? '' : ', not published yet'} · Rust ${ofCrate('rust-version')} or later · ${
    ofCrate('license').replace(' OR ', ' or ')}</p><p>${links.join(' ')}</p></footer>`;
}

/// `picture` is what a link to the page shows. `base` is for a page that is served at any address.
function page({ path, title, body, scripts = '', about, picture = '', base = '' }) {
  const up = '../'.repeat(path.split('/').length - 1);
  write(join(site, path), `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${escape(title)}</title>
  ${base}<meta name="description" content="${escape(about)}">
  ${picture ? `<meta property="og:image" content="${up}${picture}">` : ''}
  <link rel="stylesheet" href="${up}look.css">
  <script src="${up}theme.js"></script>
  <noscript><link rel="stylesheet" href="${up}still.css"></noscript>
</head>
<body class="site">
${bar(up, path)}<button type="button">light / dark</button></nav>
<main>
${body}
</main>
${footer(up)}
<script src="${up}motion.js"></script>
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
  ...['first-game', 'state-and-owners', 'several', 'stopping', 'waits', 'recipes', 'time', 'buffers', 'pausing', 'tables', 'compiler']
    .map((name) => [`docs/guide/${name}.md`]),
  ['# Coming from'],
  ...['unity', 'unitask', 'dotween', 'reactivex', 'ue5coro', 'godot', 'tokio', 'bevy', 'bevy_defer', 'bevy_flurx']
    .map((name) => [`docs/guide/coming-from/${name}.md`]),
  ['# Run scripts'],
  ...['engines', 'hosts', 'web', 'performance', 'mods', 'live', 'hot-reload', 'rooms', 'rooms-nats'].map((name) => [`docs/guide/${name}.md`]),
  ['# Save and repeat'],
  ...['determinism', 'saving', 'porting', 'saves-and-patches'].map((name) => [`docs/guide/${name}.md`]),
  ['# Find bugs'],
  ...['testing', 'inspecting', 'panel', 'timeline', 'tracing', 'lints'].map((name) => [`docs/guide/${name}.md`]),
  ['# Compare'],
  ['COMPARE.md'], ['benches/compare/README.md', 'Measured costs'],
  ['# Packages'],
  ['crates/framestep_durable/README.md'], ['crates/framestep_durable_macros/README.md'], ['crates/framestep_live/README.md'], ['crates/bevy_framestep/README.md'],
  ['crates/bevy_framestep/docs/tutorial.md'], ['crates/godot_framestep/README.md'],
  ['crates/framestep_timeline/README.md'], ['crates/framestep_panel/README.md'], ['crates/framestep_rooms/README.md'],
  ['# The project'],
  ['docs/contract.md'], ['CHANGELOG.md'], ['examples/README.md'],
  ['# For contributors'],
  ...['docs/design.md', 'docs/reliability.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'].map((path) => [path]),
];
const listed = new Set(chapters.map(([path]) => path));
const unlisted = [...tracked].filter((path) => /^docs\/guide\/.*\.md$/.test(path) && !listed.has(path));
const missing = [...listed].filter((path) => path.endsWith('.md') && !tracked.has(path));
if (unlisted.length + missing.length > 0) {
  throw new Error(`the list of chapters in site/build.mjs ${unlisted.length > 0 ? `misses ${unlisted}` : `has ${missing}, which is no file`}`);
}
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
  if (/^([a-z]+:(?!:)|#)/.test(href)) return href;
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

/// A link that rustdoc reads, such as `crate::resource()`, as a link to the page of its item.
function ofRustdoc(from, href, words) {
  const crate = /^crates\/(\w+)\//.exec(from)?.[1] ?? 'framestep';
  const name = href.replace(/\(\)$/, '').replace(/^crate(::)?/, '');
  const path = `reference/${crate}/${name.split('::').slice(0, -1).map((part) => `${part}/`).join('')}`;
  const kinds = ['fn', 'struct', 'trait', 'enum', 'macro'].map((kind) => `${path}${kind}.${name.split('::').at(-1)}.html`);
  const to = [name === '' ? `reference/${crate}/index.html` : '', ...kinds].find((page) => page && existsSync(join(site, page)));
  return to ? `[${words}](${'../'.repeat(from.split('/').length)}${to})` : words;
}

/// The Markdown of a file with the links of the site.
function relink(from, text) {
  const parts = text.split(/^((?:```|~~~).*\n[\s\S]*?^(?:```|~~~)[ ]*\n?)/m);
  const link = /(!?)\[((?:[^[\]]|!?\[[^[\]]*\](?:\([^)]*\))?)*)\]\(([^()\s]+(?:\(\))?)\)/g;
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
    if (/^\w+(::\w+)*(\(\))?$/.test(href)) return ofRustdoc(from, href, inside);
    dropped.set(`${from}: ${href}`, inside);
    return inside;
  };
  const definition = (whole, name, href) => {
    const to = target(from, href);
    return to === undefined ? '' : `[${name}]: ${to}`;
  };
  // What must not compile is Rust, too, and is coloured like it. The book has no colours for the language of
  // Godot, which is close to Python, and says so in the console.
  return parts.map((part, index) => (index % 2 === 1
    ? part.replace(/^```(?=compile_fail)/, '```rust,').replace(/^```gdscript\b/, '```python').replace(/^```log\b/, '```text')
    : part.replace(link, one).replace(/^\[([^\]\n]+)\]: (\S+)$/gm, definition))).join('');
}

// -- The reference -----------------------------------------------------------------------------

// Its first pages are READMEs, whose links lead into the repository; and pages that rustdoc copies from
// other crates keep links that lead nowhere here.
const packages = { framestep: '.', framestep_durable: 'crates/framestep_durable', framestep_durable_macros: 'crates/framestep_durable_macros',
  framestep_live: 'crates/framestep_live', framestep_timeline: 'crates/framestep_timeline', framestep_panel: 'crates/framestep_panel',
  bevy_framestep: 'crates/bevy_framestep', godot_framestep: 'crates/godot_framestep', framestep_rooms: 'crates/framestep_rooms' };
const reference = join(site, 'reference');
const pages = existsSync(reference) ? readdirSync(reference, { recursive: true }).filter((path) => path.endsWith('.html')) : [];
/// As if the link stood in the book, where pages are made of Markdown.
function onSite(folder, href) {
  const to = target(`${folder === '.' ? '' : `${folder}/`}README.md`, href);
  return to && posix.normalize(posix.join('book', folder, to)).replace(/\.md(?=#|$)/, '.html');
}
for (const path of pages) {
  const html = readFileSync(join(reference, path), 'utf8');
  const up = '../'.repeat(path.split('/').length);
  const folder = packages[path.split('/')[0]];
  const repaired = html.replace(/ (href|src)="([^"#]+)(#[^"]*)?"/g, (whole, name, way, hash) => {
    if (/^[a-z][a-z+.-]*:(?!:)/.test(way) || existsSync(join(reference, dirname(path), decodeURIComponent(way.split('?')[0])))) return whole;
    if (path.split('/').length > 2 || folder === undefined) return '';
    const to = onSite(folder, way + (hash ?? ''));
    return to === undefined ? '' : ` ${name}="${up}${to}"`;
  }).replace(/<code>(docs\/[\w./-]+)<\/code>/g, (words, name) => {
    // Files of the repository that a page names.
    const to = path.startsWith('src/') ? undefined : onSite('.', name);
    return to === undefined ? words : `<a href="${up}${to}">${words}</a>`;
  })
    // Fonts are fetched like from another site: without this they are loaded twice, and the console says so.
    .replace('<link rel="preload" as="font" type="font/woff2"', '<link rel="preload" as="font" crossorigin type="font/woff2"');
  const links = `<p class="site-links">${[['framestep', 'index.html'], ['Gallery', 'gallery/index.html'],
    ['Guide', 'book/docs/guide/index.html'], ['All packages', 'reference/index.html']]
    .map(([words, to]) => `<a href="${up}${to}">${words}</a>`).join(' ')}</p>`;
  writeFileSync(join(reference, path), repaired.replace('<main>', `<main>${links}`));
}
// Rustdoc was given this file, maybe an older state of it.
if (existsSync(join(reference, 'theme.css'))) cpSync(join(here, 'reference.css'), join(reference, 'theme.css'));

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
// Their words would hide those of the guide.
const unsearched = chapters.slice(chapters.findIndex(([path]) => path === '# For contributors') + 1)
  .map(([path]) => path).filter((path) => !/^crates\/\w+\/docs\//.test(path));
write(join(dirname(book), 'unsearched.txt'), [...unsearched, 'CHANGELOG.md', 'examples/README.md', 'benches/compare/README.md']
  .map((path) => `${inSource(path)}\n`).join(''));
for (const [where, words] of dropped) console.log(`no page for a link: ${where} (${words})`);

const theme = join(dirname(book), 'theme');
write(join(theme, 'header.hbs'), `${bar('{{ path_to_root }}../', '')}</nav>\n`);

// -- Sources that pages link to ---------------------------------------------------------------

for (const path of sources) {
  const text = read(path);
  page({
    path: `source/${path}.html`, title: path, about: `The source of ${path}, of framestep.`,
    body: `<h1 class="path">${escape(path)}</h1>\n${highlight(text, { isRust: path.endsWith('.rs') })}`,
  });
}

for (const [folder, files] of folders) {
  const items = files.filter((path) => sources.has(path))
    .map((path) => `<li><a href="${posix.relative(folder, path)}.html">${escape(posix.relative(folder, path))}</a></li>`);
  page({ path: `source/${folder}/index.html`, title: folder, about: `The files of ${folder}, of framestep.`, body: `<h1 class="path">${escape(folder)}</h1>\n<ul>${items.join('')}</ul>` });
}

// -- The gallery ------------------------------------------------------------------------------

const scenes = JSON.parse(readFileSync(join(here, 'scenes.json'), 'utf8'));
const size = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} KB` : `${(bytes / 1e6).toFixed(1)} MB`);
const sizesOf = (path) => {
  const wasm = readFileSync(path);
  return `${size(wasm.length)} of WebAssembly, ${size(gzipSync(wasm).length)} compressed.`;
};
const cards = [];
/// A moving picture, or a still one for those who want no motion.
const film = (up, still, moving, words) => (moving ? `<picture><source media="(prefers-reduced-motion: reduce)" srcset="${up}${still}"><img
  src="${up}${moving}" alt="${escape(words)}" loading="lazy"></picture>` : `<img src="${up}${still}" alt="${escape(words)}" loading="lazy">`);
const isBuilt = ({ id, wasm }) => existsSync(join(plays, id, wasm));
for (const scene of scenes) {
  const folder = join(plays, scene.id);
  const still = `pictures/${scene.id}${extname(scene.picture)}`;
  mkdirSync(join(site, 'pictures'), { recursive: true });
  cpSync(join(root, scene.picture), join(site, still));
  const moving = scene.moving && `pictures/${basename(scene.moving)}`;
  if (moving) cpSync(join(root, scene.moving), join(site, moving));
  const strip = scene.strip && `pictures/${scene.id}-film${extname(scene.strip)}`;
  if (strip) cpSync(join(root, scene.strip), join(site, strip));
  const sources = scene.files.map((file) => [file, read(`${scene.package}/src/${file}`)]);
  const lines = sources.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0);
  let sizes = `${moving ? 'The film' : 'Pictures'} of a run: the game was not built on the machine that made this site.`;
  if (isBuilt(scene)) {
    sizes = sizesOf(join(folder, scene.wasm));
    cpSync(folder, join(site, 'play', scene.id), { recursive: true });
    const index = join(site, 'play', scene.id, 'index.html');
    const html = readFileSync(index, 'utf8');
    write(index, html.replace('href="data:,"', 'href="../../icon.svg"').replace('</head>', '  <script src="bridge.js"></script>\n</head>'));
    cpSync(join(here, 'bridge.js'), join(site, 'play', scene.id, 'bridge.js'));
  }
  // How large a game is, a reader of its page wants to know.
  const card = (up, isBrief = false) => `<li><a href="${up}gallery/${scene.id}.html">${film(up, still, moving, '')}</a>
  <div class="words"><h2><a href="${up}gallery/${scene.id}.html">${escape(scene.title)}</a></h2>
  <p>${escape(scene.says)}</p>${isBrief ? '' : `<p class="dim">${escape(sizes)}</p>`}</div></li>`;
  cards.push(card);
  const query = scene.query ?? '';
  const play = `../play/${scene.id}/index.html`;
  const stage = isBuilt(scene) ? `<div class="stage" style="--aspect: ${scene.aspect}" data-title="${escape(scene.title)}"
  data-play="${play}${query}" data-follow='${escape(JSON.stringify(scene.follow))}'>
  <button class="start" type="button" style="background-image: url('../${still}')"><span>Play</span></button>
  <noscript><img src="../${still}" alt=""></noscript></div>
<div class="keys" aria-label="Keys of the game">${scene.keys.map(([words, code]) =>
    `<button type="button" data-code="${code}">${escape(words)}</button>`).join('')}</div>
<p>${escape(scene.words)} ${escape(scene.play)}</p>
<p class="dim">${escape(sizes)} <span id="figures"></span> <a href="${play}">The game alone</a></p>`
    : `${film('../', still, moving, scene.title)}${strip ? `<p><img src="../${strip}" alt="${escape(scene.title)}, in five pictures"></p>` : ''}<p class="dim">${escape(sizes)}</p>`;
  const follow = isBuilt(scene) ? `<div class="follow"><label for="followed">Follow</label>
<select id="followed">${scene.follow.length > 0 ? '<option value="story">the story</option>' : ''}<option value="file">this file</option><option value="nothing">nothing</option></select>
<span class="dim">A marked line is an <code>.await</code> where a script waits now.</span></div>` : '';
  page({
    path: `gallery/${scene.id}.html`, title: `${scene.title}: framestep`, about: scene.says, picture: still,
    body: `<h1>${escape(scene.title)}</h1>
<p class="lead">${escape(scene.says)}</p>
<div class="two${scene.isWide ? ' wide-stage' : ''} play"><section aria-label="Game">${stage}</section>
<section aria-label="Code">${follow}<div class="files" role="tablist">${sources.map(([file], index) =>
    `<button type="button" role="tab" aria-selected="${index === 0}" data-file="${file}">${file} <small></small></button>`).join('')}</div>
<div class="panes">${sources.map(([file, text], index) => `<div data-file="${file}"${index === 0 ? '' : ' hidden'}>${
    highlight(text, { prefix: `${basename(file, '.rs')}-` })}</div>`).join('\n')}</div>
<p class="dim">${lines} lines, as they are compiled.</p></section></div>`,
    scripts: isBuilt(scene) ? '<script src="../scene.js"></script>' : `<script>
  for (const tab of document.querySelectorAll('.files button')) tab.addEventListener('click', () => {
    for (const each of document.querySelectorAll('.files button')) each.setAttribute('aria-selected', each === tab);
    for (const pane of document.querySelectorAll('.panes [data-file]')) pane.hidden = pane.dataset.file !== tab.dataset.file;
  });
</script>`,
  });
}

// -- Frame by frame ---------------------------------------------------------------------------

const scripts = [['door', 'A door'], ['several', 'Several at once'], ['lever', 'The first of two: select!'],
  ['both', 'All of them: join!, timeout'], ['title', 'A title screen'], ['stunned', 'An enemy that is stunned'], ['dialogue', 'A dialogue box'],
  ['owners', 'A level and its scripts'], ['phases', 'Phases of a frame'], ['stuck', 'Find the mistake']]
  .map(([id, title]) => ({ id, title, text: read(`site/frames/scripts/${id}.rs`) }));
const lengths = [['quarter', '0.25 s'], ['tenth', '0.1 s'], ['sixtieth', '1/60 s']];
const run = (id, length = 'quarter') => JSON.parse(readFileSync(join(recordings, `${id}-${length}.json`), 'utf8'));
for (const { id } of scripts) {
  for (const [length] of lengths) cpSync(join(recordings, `${id}-${length}.json`), join(site, 'frames', `${id}-${length}.json`));
}
const data = (first, ids) => `<script id="runs" type="application/json">${JSON.stringify({ first,
  runs: Object.fromEntries(ids.map((id) => [`${id}-quarter`, run(id)])) }).replaceAll('<', '\\u003c')}</script>`;
/// What a run prints: for readers without scripts, until the page replaces it.
const printedBy = (id) => escape(run(id).frames.flatMap(({ printed }, frame) => printed.map((text) => `${String(frame).padStart(3)}  ${text}`)).join('\n'));
const option = (value, words) => `<option value="${escape(value)}">${escape(words)}</option>`;
const controls = `<button id="back" type="button" aria-label="a frame back">&larr;</button><button id="play" type="button">Play</button><button id="on" type="button" aria-label="a frame on">&rarr;</button>
<input id="frame" type="range" min="0" max="1" value="0" aria-label="Frame"><output id="place"></output>`;
const drawn = `<svg class="scene" viewBox="0 0 130 44" role="img" aria-label="The world: a hero, a lamp and a door">
<rect class="sky" width="130" height="44"/><rect class="floor" y="36" width="130" height="8"/>
<circle class="glow" cx="62" cy="9" r="26" fill="url(#light)" opacity="0"/><defs><radialGradient id="light"><stop offset="0" stop-color="#ffd27a" stop-opacity="0.95"/><stop offset="1" stop-color="#ffd27a" stop-opacity="0"/></radialGradient></defs>
<path class="lamp" d="M62 0v5M59 5h6l2 5h-10z"/><path class="frame" d="M112 36v-22h14v22"/><rect class="leaf" x="114" y="16" width="10" height="20"/>
<g class="hero" transform="translate(14, 0)"><circle cx="0" cy="25" r="3.4"/><path d="M-3.4 36v-4a3.4 3.4 0 0 1 6.8 0v4z"/></g><text class="coins" x="4" y="9"></text></svg>`;
const panesOf = (shown) => shown.map(({ id, text }, index) => `<div data-script="${id}"${index === 0 ? '' : ' hidden'}>${
  highlight(text, { prefix: `${id}-` })}</div>`).join('\n');
const says = 'Scripts of a screen each, from a title screen to a stunned enemy: when each is polled, where it waits, what it prints.';
page({
  path: 'gallery/frames.html', title: 'Frame by frame: framestep', about: says,
  body: `<h1>Frame by frame</h1>
<p class="lead">Step through a run. A line is marked while a script waits there.</p>
<noscript><p>To step through the runs, this page needs JavaScript. Without it, here is the first script, and what it prints in which frame.</p></noscript>
<div class="two" id="frames"><section aria-label="Script">
<div class="tools choices" hidden data-live><label>Script <select id="script">${scripts.map(({ id, title }) => option(id, title)).join('')}</select></label>
<label>A frame takes <select id="length">${lengths.map(([id, words]) => option(id, words)).join('')}</select></label></div>
<div class="script-panes">${panesOf(scripts)}</div><p class="notes"></p></section>
<section aria-label="Frames"><div class="tools controls" hidden data-live>${controls}</div>
${drawn}
<div class="timeline" hidden data-live><div class="names"></div><div class="lanes" tabindex="0" aria-label="Scripts by frame: arrow keys step"></div></div>
<p class="legend" hidden data-live><span data-kind="time">seconds</span><span data-kind="frames">frames</span><span data-kind="condition">a condition</span><span data-kind="event">an event</span><span data-kind="end">the end of a script</span><span data-kind="poll">polled</span> <span>E F L Z: in another phase than Update</span></p>
<div class="happens"><ol class="events" aria-label="What happens in this frame" hidden data-live></ol><pre class="output" aria-label="Printed so far">${printedBy('door')}</pre></div></section></div>
<p class="dim">The scripts are compiled with the crate as they stand here, and were run when the site was built: nothing on this page imitates Rust.
The world has <code>hero</code> (0 to 10), <code>door</code> and <code>lamp</code> (0 to 1) and <code>coins</code>; the page starts <code>game</code>.
To change a script, put it into <a href="../book/docs/guide/first-game.html">a crate of your own</a>: that takes two minutes.</p>`,
  scripts: `${data('door', scripts.map(({ id }) => id))}
<script type="module" src="../frames.js"></script>`,
});
cards.push((up) => `<li><a href="${up}gallery/frames.html"><svg class="scene" viewBox="0 0 130 44" preserveAspectRatio="xMaxYMid slice" aria-hidden="true"><rect class="sky" width="130" height="44"/><rect class="floor" y="36" width="130" height="8"/><circle cx="62" cy="9" r="26" fill="#ffd27a" opacity="0.3"/>
<path class="lamp" d="M62 0v5M59 5h6l2 5h-10z"/><path class="frame" d="M112 36v-22h14v22"/><rect class="leaf" x="114" y="16" width="10" height="9"/><g class="hero" transform="translate(80, 0)"><circle cx="0" cy="25" r="3.4"/><path d="M-3.4 36v-4a3.4 3.4 0 0 1 6.8 0v4z"/></g></svg></a><div class="words"><h2><a href="${up}gallery/frames.html">Frame by frame</a></h2>
  <p>${escape(says)}</p></div></li>`);
page({
  path: 'gallery/index.html', title: 'Gallery: framestep', picture: `pictures/rewind.jpg`,
  about: 'Games that run in the browser beside the code of their scripts: the lines where scripts wait are marked while they wait.',
  body: `<h1>Gallery</h1>
<p class="lead">${scenes.some(isBuilt) ? `Programs that run in this browser, each beside the code of its scripts. The lines where scripts wait
are marked while they wait.` : 'Films of games, each beside the code of its scripts. Runs of small scripts to step through, frame by frame.'}</p>
<ul class="cards">${cards.map((card) => card('../')).join('\n')}</ul>`,
});

// -- The first page ---------------------------------------------------------------------------

for (const name of ['marks.webp', 'marks.jpg']) cpSync(join(root, 'docs/pictures', name), join(site, 'pictures', name));

page({
  path: 'index.html', title: 'framestep: game scripts that wait', picture: 'pictures/marks.jpg',
  about: 'A Rust library for games: gameplay scripts are async fns that wait for seconds, frames, events and each other.',
  body: `<div class="two opening"><div><h1>Game scripts that wait.</h1>
<p class="lead">framestep is a Rust library for games. A door, an enemy, a cutscene is a script: an <code>async fn</code>
that waits for seconds, frames, events or other scripts, and goes on in the right frame.</p>
<p class="dim">For macroquad, Bevy, Godot or your own loop. If you know coroutines from Unity: the same idea, with results,
cancelling and a fixed order.</p>
<pre class="install"><code>cargo add framestep${address ? '' : ' --path ../framestep'}</code></pre>
${address ? '' : '<p class="dim">Not published yet: the path is that of a clone beside your crate.</p>'}
<p class="actions"><a href="book/docs/guide/first-game.html">Write a first game in ten minutes</a>
<a href="gallery/index.html">Play</a><a href="reference/${hasReference('framestep') ? 'framestep/' : ''}index.html">Reference</a></p></div>
<div class="film"><a href="gallery/rewind.html">${film('', 'pictures/marks.jpg', 'pictures/marks.webp',
    'A game, and the code of its guardian: while time runs back, the mark goes back from await to await')}</a>
<p class="dim">The marked line is where the guardian's script waits. Time runs back, and so does the script. <a href="gallery/rewind.html">Play it</a>.</p></div></div>
<h2 class="first">A door, frame by frame</h2>
<div class="two" id="frames"><section aria-label="Scripts">${panesOf(scripts.slice(0, 1))}
<p class="dim">A marked line is where a script waits after the frame. <a href="gallery/frames.html">${scripts.length - 1} more scripts</a>: several
at once, a lever, a title screen, a dialogue box, an enemy that is stunned.</p></section>
<section aria-label="Frames">${drawn}<div class="tools controls" hidden data-live>${controls}</div><pre class="output" aria-live="off">${printedBy('door')}</pre>
<p class="dim">A frame takes a quarter of a second here. Recorded from a run of this script.</p></section></div>
<h2>Games, beside their code</h2>
<ul class="cards games">${cards.slice(0, scenes.length).map((card) => card('', true)).join('\n')}</ul>
<h2>What it promises</h2>
<ul>
<li>The order of scripts is fixed: the same inputs lead to the same run, in debug, in release and in the browser.</li>
<li>A script ends with its owner: an enemy, a menu, a level, a Bevy entity. A panic ends one script, not the game.</li>
<li>Scripts that sleep cost nothing. The crate starts no thread and reads no clock.</li>
<li>Durable scripts can be saved in the middle of an <code>.await</code>, rewound and rolled back.</li>
</ul>
<p>Each promise has <a href="book/docs/reliability.html">a test</a>, and each wait has <a href="book/docs/contract.html">a
rule</a> that says in which frame it ends. <a href="book/COMPARE.html">Compare it</a>
with Unity's coroutines, UniTask, UE5Coro, <code>bevy_defer</code> and others.</p>
<h2>You know another system?</h2>
<p class="actions plain">${[['unity', 'Unity'], ['unitask', 'UniTask'], ['dotween', 'DOTween'], ['reactivex', 'ReactiveX'],
    ['ue5coro', 'UE5Coro'], ['godot', 'Godot'], ['tokio', 'tokio'],
    ['bevy', 'Bevy systems'], ['bevy_defer', 'bevy_defer'], ['bevy_flurx', 'bevy_flurx']].map(([file, name]) =>
    `<a href="book/docs/guide/coming-from/${file}.html">${name}</a>`).join('')}</p>`,
  scripts: `${data('door', ['door'])}\n<script type="module" src="frames.js"></script>`,
});

// Hosts serve it at any address, so its links begin at the root of the host.
page({
  path: '404.html', title: 'No such page: framestep', base: '<base href="/">\n  ', about: 'There is no page at this address.',
  body: `<h1>No such page</h1>
<p class="lead">There is no page at this address. The guide has <a href="book/docs/guide/index.html">a list of chapters</a> and a
search; the <a href="reference/index.html">reference</a> has a page for each function.</p>`,
});

// -- The reference, if it was built -----------------------------------------------------------

const built = crates.filter(hasReference);
const about = (name) => /^description = "(.*)"$/m.exec(read(execFileSync('git', ['-C', root, 'ls-files', '*Cargo.toml'],
  { encoding: 'utf8' }).split('\n').find((path) => path && read(path).includes(`\nname = "${name}"\n`))))?.[1] ?? '';
page({
  path: 'reference/index.html', title: 'Reference: framestep', about: 'The packages of framestep: when each wait resumes, what it returns, and what dropping it does.',
  body: `<h1>Reference</h1>
<p class="lead">Each wait says when it resumes, what it returns, and what dropping it does.</p>
${built.length > 0 ? '' : '<p>The machine that made this site has not built the reference. In a clone of the repository, <code>cargo doc --open</code> shows it.</p>'}
<ul class="cards">${built.map((name) => `<li><div class="words"><h2><a href="${name}/index.html">${name.replaceAll('_', '_<wbr>')}</a></h2>
<p>${escape(about(name))}</p></div></li>`).join('\n')}</ul>${[0, crates.length].includes(built.length) ? ''
    : `<p class="dim">Not built here: ${crates.filter((name) => !built.includes(name)).join(', ')}.</p>`}`,
});

for (const file of ['look.css', 'still.css', 'theme.js', 'scene.js', 'frames.js', 'motion.js', 'icon.svg']) cpSync(join(here, file), join(site, file));
// Not every host knows what a .mjs is.
cpSync(join(here, 'highlight.mjs'), join(site, 'highlight.js'));
const total = statSync(join(site, 'index.html')).size;
console.log(`${inBook.size} chapters, ${sources.size} sources, ${scenes.length} scenes, ${built.length} packages; the first page: ${size(total)}`);
