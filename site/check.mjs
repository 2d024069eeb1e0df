// Checks the site in headless Chromium, by what a reader sees. No link is broken. Every page has a
// description, an icon and a picture, opens without an error in the console, and is no wider than a
// phone; tables fit or show that they scroll, at three widths. The first page and the runs go through
// their frames. A chosen theme holds for every kind of page; an address without a page has one. Of each
// game, every button, file and choice is used while lines of its code are marked. The search of the
// reference knows the names of other engines; that of the guide finds chapters for its readers. No
// program contains a path of the machine that has built it. Takes pictures of each kind of page in
// light, in dark, at 1920 and at the width of a phone.
//
// node check.mjs CHROMIUM SITE PICTURES [PART..]: all, or `--links` for links and heads alone, or of the rest
// only `pages`, `first`, `frames`, `search`, `names`, or games by their ids.

import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, posix, resolve } from 'node:path';

import { visit } from '../scripts/lib/browser.mjs';
import { phone, play, sleep, wide, widths } from './check-games.mjs';
import { serve } from './serve.mjs';

const [chromium, site, pictures, ...parts] = process.argv.slice(2).filter((word) => word && !['--short', '--all'].includes(word));
const files = readdirSync(site, { recursive: true }).filter((path) => path.endsWith('.html'));

// -- Links ------------------------------------------------------------------------------------

const texts = new Map();
const anchors = new Map();
const text = (path) => {
  if (!texts.has(path)) texts.set(path, readFileSync(join(site, path), 'utf8'));
  return texts.get(path);
};
function hasAnchor(path, anchor) {
  if (!anchors.has(path)) {
    anchors.set(path, new Set([...text(path).matchAll(/\s(?:id|name)="([^"]+)"/g)].map(([, id]) => id)));
  }
  return anchors.get(path).has(anchor);
}

const broken = [];
let links = 0;
for (const path of files) {
  // Rustdoc makes some anchors by script.
  const isReference = path.startsWith('reference/');
  const html = text(path).replace(/<!--[\s\S]*?-->/g, '').replace(/<script[\s\S]*?<\/script>/g, (script) => script.split('>')[0])
    .replace('<base href="/">', '');
  for (const [, href] of html.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
    const link = href.replaceAll('&amp;', '&');
    if (/^(data:|https?:|mailto:|javascript:)/.test(link) || link === '') continue;
    links += 1;
    if (link.startsWith('/')) {
      broken.push(`${path}: ${link} is not relative`);
      continue;
    }
    const [way, anchor] = link.split('#');
    let to = decodeURIComponent(way.split('?')[0]);
    to = to === '' ? path : posix.normalize(posix.join(posix.dirname(path), to));
    if (existsSync(join(site, to)) && statSync(join(site, to)).isDirectory()) to = join(to, 'index.html');
    if (!existsSync(join(site, to))) broken.push(`${path}: ${link}`);
    else if (anchor && to.endsWith('.html') && !isReference && !hasAnchor(to, decodeURIComponent(anchor))) {
      // The reference marks ranges of lines by script.
      if (!/^reference\/src\//.test(to)) broken.push(`${path}: ${link}: no such place in the page`);
    }
  }
}
if (broken.length > 0) {
  console.error([...new Set(broken)].join('\n'));
  console.error(`${broken.length} broken links of ${links}`);
  process.exit(1);
}
console.log(`${links} links in ${files.length} pages, none broken`);

// -- Heads ------------------------------------------------------------------------------------

for (const path of files) {
  const html = text(path);
  // Games, parts of pages, and pages that lead to others.
  if (path.startsWith('play/') || /(^|\/)toc\.html$/.test(path) || html.includes('http-equiv="refresh"')) continue;
  const has = (what, pattern) => {
    const found = pattern.exec(html)?.[1];
    if (!found?.trim()) throw new Error(`${path} has no ${what}`);
    return found;
  };
  has('title', /<title>([^<]*)/);
  has('description', /<meta name="description" content="([^"]*)"/);
  for (const [what, pattern] of [['icon', /<link rel="icon" href="([^"]*)"/], ['picture', /<meta property="og:image" content="([^"]*)"/]]) {
    const to = has(what, pattern);
    if (!/^https:/.test(to) && !existsSync(join(site, dirname(path), to))) throw new Error(`${path}: its ${what} is not there: ${to}`);
  }
}
console.log('each has a description, an icon and a picture');
if (parts.includes('--links')) process.exit(0);
const wants = (part) => parts.length === 0 || parts.includes(part);

// -- Programs ---------------------------------------------------------------------------------

for (const path of readdirSync(site, { recursive: true }).filter((name) => name.endsWith('.wasm'))) {
  const words = readFileSync(join(site, path), 'latin1');
  for (const place of [homedir(), process.cwd(), dirname(resolve(site))]) {
    // Not a part of a path that begins elsewhere.
    const found = new RegExp(`(?<![\\w.-])${place}/[\\x20-\\x7e]{0,120}`).exec(words);
    if (found) throw new Error(`${path} contains a path of this machine: ${found[0]}`);
  }
}

// -- Pages ------------------------------------------------------------------------------------

const server = await serve(site);
const scenes = JSON.parse(readFileSync(new URL('scenes.json', import.meta.url)));
// The reference is rustdoc's; one page of each package stands for it, and each with a table. One in ten
// sources does for all. A game alone is played below.
const opened = files.filter((path, index) => (!path.startsWith('source/') || index % 10 === 0) && !path.startsWith('play/') && !/\/(print|toc|404)\.html$/.test(path)
  && (!path.startsWith('reference/') || path.split('/').length <= 3 && path.endsWith('index.html')
    || !path.startsWith('reference/src/') && text(path).includes('<table')));
const options = { chromium, server, pictures, ...wide, minutes: 3, figures: '({ frame: document.querySelector("iframe")?.contentWindow?.drawn ?? 0 })' };

/// The tables of a page that hide a part of themselves without a hint.
const hidden = `[...document.querySelectorAll('main table')].filter((table) => {
  let box = table;
  while (box && !['auto', 'scroll'].includes(getComputedStyle(box).overflowX)) box = box.parentElement;
  if (!box || box === document.documentElement) return table.getBoundingClientRect().right > innerWidth;
  return box.scrollWidth > box.clientWidth + 1 && !getComputedStyle(box).backgroundImage.includes('gradient');
}).map((table) => table.textContent.trim().slice(0, 40))`;

await visit(options, async (tab, root) => {
  const quiet = (path) => {
    if (tab.errors.length > 0) throw new Error(`${path} prints errors`);
  };
  const wait = async (condition, what) => {
    for (let tries = 0; !(await tab.evaluate(condition)); tries += 1) {
      if (tries > 150) throw new Error(what);
      await sleep(100);
    }
  };
  const page = async (path) => {
    // The same address again would load nothing.
    await tab.go('about:blank');
    await tab.go(root + path);
  };
  const tools = { tab, root, quiet, wait, page };

  if (wants('pages')) await openPages(tools);
  if (wants('first')) await tryFirstPage(tools);
  if (wants('frames')) await tryFrames(tools);
  if (wants('search')) await trySearch(tools);
  if (wants('names')) {
    if (existsSync(join(site, 'reference/framestep'))) await tryNames(tools);
    else console.log('not checked: names of other engines, without the reference');
  }
  for (const scene of scenes.filter(({ id }) => wants(id))) {
    if (existsSync(join(site, 'play', scene.id))) await play(scene, tools);
    else {
      for (const size of widths) {
        await tab.look({ ...size, theme: 'light' });
        await page(`gallery/${scene.id}.html`);
        await stopFilms(tools, 'main section:first-child', 1);
      }
      console.log(`its film was looked at, because it was not built: ${scene.id}`);
    }
  }
});

/// All pages on a phone, their tables at three widths; and pictures of each kind.
async function openPages({ tab, root, quiet, page }) {
  await tab.look({ ...phone, theme: 'light' });
  const wrong = [];
  const covered = `(() => {
    const boxes = (query) => [...document.querySelectorAll(query)].filter(({ offsetWidth }) => offsetWidth > 0).map((each) => each.getBoundingClientRect());
    return boxes('main table').some((table) => boxes('.nav-wide-wrapper a').some(({ left, right }) => left < table.right && right > table.left));
  })()`;
  let tables = 0;
  for (const path of opened) {
    await tab.go(root + path);
    quiet(path);
    if (tab.lines.length > 0) throw new Error(`${path} writes to the console: ${tab.lines[0]}`);
    const [needed, has, count] = await tab.evaluate('[document.documentElement.scrollWidth, innerWidth, document.querySelectorAll("main table").length]');
    if (has > phone.width || needed > phone.width) wrong.push(`${path} is wider than a phone: ${Math.max(needed, has)}`);
    if (count === 0) continue;
    tables += count;
    for (const size of widths) {
      await tab.look({ ...size, theme: 'light' });
      for (const words of await tab.evaluate(hidden)) wrong.push(`${path}, ${size.width}: a table is cut off: ${words.replace(/\s+/g, ' ')}`);
      if (await tab.evaluate(covered)) wrong.push(`${path}, ${size.width}: an arrow lies on a table`);
    }
    await tab.look({ ...phone, theme: 'light' });
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  console.log(`${opened.length} pages open with an empty console, none wider than a phone; ${tables} tables at ${widths.length} widths`);

  const kinds = { home: 'index.html', gallery: 'gallery/index.html', frames: 'gallery/frames.html#lever', missing: '404.html',
    book: 'book/docs/guide/waits.html', coming: 'book/docs/guide/coming-from/unity.html', compare: 'book/COMPARE.html',
    charts: 'book/benches/compare/index.html', reference: 'reference/index.html', crate: 'reference/framestep/index.html',
    source: 'source/Cargo.toml.html' };
  for (const [name, path] of Object.entries(kinds)) {
    if (!existsSync(join(site, path.split('#')[0]))) continue;
    for (const [kind, look] of [['light', { ...wide, theme: 'light' }], ['dark', { ...wide, theme: 'dark' }],
      ['wide', { ...widths[2], theme: 'light' }], ['phone', { ...phone, theme: 'light' }]]) {
      await tab.look(look);
      await page(path);
      await sleep(300);
      await tab.picture(`${name}-${kind}`);
      quiet(path);
    }
  }
}

/// The door opens, the film stops, and nothing needs scripts or motion.
async function tryFirstPage({ tab, root, page, wait, quiet }) {
  await tab.look({ ...wide, theme: 'light' });
  await page('');
  await wait('document.body.dataset.began', 'the first page does not begin');
  const seen = await tab.evaluate(`(() => {
    document.querySelector('#play').textContent === 'Pause' && document.querySelector('#play').click();
    const slider = document.querySelector('#frame');
    slider.value = 0;
    slider.dispatchEvent(new Event('input'));
    const seen = [];
    for (let frame = 0; frame <= Number(slider.max); frame += 1) {
      seen.push([Number(document.querySelector('.leaf').getAttribute('height')), document.querySelectorAll('.line.waits').length]);
      document.querySelector('#on').click();
    }
    return { seen, coins: document.querySelector('.coins').textContent };
  })()`);
  const doors = seen.seen.map(([door]) => door);
  if (doors[0] !== 20 || doors.at(-1) !== 0 || new Set(doors).size < 5) throw new Error(`the door of the first page does not open: ${doors}`);
  if (seen.coins !== '3 coins') throw new Error(`the first page ends with ${seen.coins}`);
  if (!seen.seen.slice(0, -1).every(([, lines]) => lines > 0)) throw new Error('a frame of the first page marks no line');
  const cards = await tab.evaluate("[...document.querySelectorAll('.cards.games h2')].map(({ textContent }) => textContent)");
  if (cards.join() !== scenes.map(({ title }) => title).join()) throw new Error(`the first page shows the games ${cards}`);
  await stopFilms({ tab, wait }, '.film', 1);
  await stopFilms({ tab, wait }, '.cards.games', cards.length);
  await tab.look({ ...wide, theme: 'light', isCalm: true });
  await page('');
  await wait("document.querySelectorAll('.film canvas').length === 1 && document.querySelector('#play').textContent === 'Play'", 'the film moves for a reader who wants no motion');
  await tab.runScripts(false);
  for (const path of ['', ...scenes.map(({ id }) => `gallery/${id}.html`), 'gallery/frames.html']) {
    await page(path);
    // Of the runs, the page without scripts shows the first.
    const [empty, buttons] = await tab.evaluate(`[
      [...document.querySelectorAll('.output, pre.code')].filter((box) => !box.closest('[data-script][hidden]') && (!box.textContent.trim() || box.offsetHeight === 0)).length,
      [...document.querySelectorAll('button, select')].filter(({ offsetHeight }) => offsetHeight > 0).map(({ textContent }) => textContent)]`);
    if (empty + buttons.length > 0) throw new Error(`without scripts, ${path || 'the first page'} has ${empty} empty boxes, and the buttons ${buttons}`);
    if (path.includes('dungeon')) await tab.picture('still');
  }
  await tab.runScripts(true);
  await changeTheme({ tab, page });
  const missing = await fetch(`${root}no/such/page.html`);
  if (missing.status !== 404 || !(await missing.text()).includes('a list of chapters')) throw new Error('an address without a page leads nowhere');
  quiet('the first page');
  console.log(`the first page: a door that opens in ${doors.length} frames, a film that stops, ${cards.length} games, two themes`);
}

/// The button of each film is on it, stops it, and leaves it as large as it was.
async function stopFilms({ tab, wait }, inside, count) {
  const films = `[...document.querySelectorAll('${inside} .moving')]`;
  await wait(`${films}.length === ${count} && ${films}.every((film) => film.querySelector('img').naturalWidth > 0)`, `not ${count} films in ${inside}`);
  const wrong = await tab.evaluate(`${films}.filter((film) => {
    const [image, button] = ['img', ':scope > button'].map((query) => film.querySelector(query));
    const before = image.getBoundingClientRect();
    const isOnIt = button.getBoundingClientRect().right <= before.right;
    button.click();
    const after = film.querySelector('canvas')?.getBoundingClientRect();
    return !isOnIt || Math.abs(after?.width - before.width) > 1 || !(Math.abs(after?.height - before.height) <= 1);
  }).map((film) => film.querySelector('img').getAttribute('src'))`);
  if (wrong.length > 0) throw new Error(`films of ${inside} whose button is not on them, does not stop them or changes their size: ${wrong}`);
}

/// The button of the theme: what it chooses holds for the book and the reference, too.
async function changeTheme({ tab, page }) {
  await tab.look({ ...wide, theme: 'light' });
  const kinds = { 'index.html': 'dark', 'gallery/index.html': 'dark', 'book/COMPARE.html': 'navy', 'reference/framestep/index.html': 'dark' };
  const themes = "[...document.documentElement.classList, document.documentElement.dataset.theme].join(' ')";
  await page('');
  const before = await tab.evaluate(themes);
  await tab.evaluate("document.querySelector('.site-bar button').click()");
  for (const [path, theme] of Object.entries(kinds)) {
    if (!existsSync(join(site, path))) continue;
    await page(path);
    const now = await tab.evaluate(themes);
    if (!now.split(' ').includes(theme)) throw new Error(`the theme of ${path} is ${now || 'light'}, although dark was chosen`);
  }
  await page('');
  await tab.evaluate("document.querySelector('.site-bar button').click(); localStorage.clear()");
  if ((await tab.evaluate(themes)) !== before) throw new Error('the button of the theme does not lead back');
}

/// Each script in frames of each length, with each button.
async function tryFrames({ tab, page, wait, quiet }) {
  await page('gallery/frames.html#lever');
  await wait('document.body.dataset.began', 'the runs do not begin');
  const of = (query) => tab.evaluate(`[...document.querySelector('${query}').options].map(({ value }) => value)`);
  const [scripts, lengths] = [await of('#script'), await of('#length')];
  let frames = 0;
  for (const script of scripts) {
    for (const length of lengths) {
      const before = Number(await tab.evaluate('document.body.dataset.changes ?? 0'));
      await tab.evaluate(`document.querySelector('#script').value = '${script}'; document.querySelector('#length').value = '${length}';
        document.querySelector('#length').dispatchEvent(new Event('change'))`);
      await wait(`Number(document.body.dataset.changes) > ${before}`, `no run of ${script} in frames of a ${length}`);
      const { marked, last, strange, lanes, back, notes, isEarly } = await tab.evaluate(`(() => {
        let marked = 0;
        const last = Number(document.querySelector('#frame').max);
        for (let frame = 0; frame <= last; frame += 1) {
          marked += document.querySelectorAll('[data-script]:not([hidden]) .line.waits').length > 0;
          document.querySelector('#on').click();
        }
        const notes = document.querySelector('.notes').checkVisibility({ visibilityProperty: true }) ? document.querySelector('.notes').textContent : '';
        document.querySelector('#back').click();
        const isEarly = document.querySelector('.notes').checkVisibility({ visibilityProperty: true });
        const explained = [...document.querySelectorAll('.legend [data-kind]')].map((entry) => [entry.dataset.kind, getComputedStyle(entry, '::before').backgroundColor]);
        const strange = explained.filter(([kind, colour]) => [...document.querySelectorAll('.bar.' + kind)].some((bar) => getComputedStyle(bar).fill !== colour));
        return { marked, last, strange: strange.join(), lanes: document.querySelectorAll('.lane').length, back: document.querySelector('#frames').dataset.shown,
          notes, isEarly };
      })()`);
      frames += last + 1;
      if (marked < last * 0.6 || lanes === 0 || Number(back) !== last - 1) throw new Error(`${script}, ${length}: lines in ${marked} of ${last} frames, ${lanes} lanes, back at ${back}`);
      if (strange) throw new Error(`${script}, ${length}: bars have another colour than the legend: ${strange}`);
      if (script === 'stuck' && length === 'quarter' && !notes.includes('gate waits at line')) throw new Error(`stuck: ${notes}`);
      if (!notes || isEarly) throw new Error(`${script}, ${length}: what the end is ${notes ? 'stands there before it' : 'is not said'}`);
    }
  }
  await tab.evaluate("document.querySelector('#play').click()");
  await wait("document.querySelector('#frames').dataset.shown >= 2", 'the run does not play');
  quiet('the runs');
  console.log(`${scripts.length} scripts in frames of ${lengths.length} lengths: ${frames} frames`);
}

/// Words that people type lead to chapters for them.
async function trySearch({ tab, page, wait, quiet }) {
  const wanted = { dialogue: /recipes/, key: /recipes|first-game|several/, input: /recipes|several|first-game|waits/, tween: /waits|recipes|coming-from|time/,
    stun: /recipes/, 'title screen': /recipes/, macroquad: /engines|first-game/, cutscene: /recipes/ };
  for (const [word, chapter] of Object.entries(wanted)) {
    await page(`book/docs/guide/index.html?search=${encodeURIComponent(word)}`);
    await wait("document.querySelectorAll('#mdbook-searchresults a, #searchresults a').length > 0", `the guide finds nothing for ${word}`);
    const found = await tab.evaluate("[...document.querySelectorAll('#mdbook-searchresults a, #searchresults a')].map(({ href }) => new URL(href).pathname)");
    const place = found.findIndex((path) => chapter.test(path));
    if (place < 0 || place > 2) throw new Error(`the guide finds for ${word}: ${found.slice(0, 4).join(', ')}`);
    const other = found.find((path) => /ARCHITECTURE|CONTRIBUTING|design|reliability|CHANGELOG/.test(path));
    if (other) throw new Error(`the guide finds for ${word} what is for contributors: ${other}`);
  }
  quiet('the search');
  console.log(`the guide finds ${Object.keys(wanted).length} words that people type`);
}

/// Asks the index for each name of another engine, in the reference of every package that was built.
async function tryNames({ tab, root, wait, quiet }) {
  const packages = readdirSync('crates').filter((name) => existsSync(join(site, 'reference', name))).map((name) => `crates/${name}/src`);
  const sources = ['src', ...packages].flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, path)))
    .filter((path) => path.endsWith('.rs')).map((path) => readFileSync(path, 'utf8')).join('\n');
  const names = [...new Set([...sources.matchAll(/^\s*#\[doc\(alias = "([^"]+)"\)\]$/gm)].map(([, name]) => name))];
  const lost = [];
  for (const name of names) {
    await tab.go(`${root}reference/framestep/index.html?search=${encodeURIComponent(name)}`);
    // By its alias, or because it is the item's name; in another case, too, and without underscores.
    const isFound = `(() => {
      const plain = (words) => words.replaceAll('_', '').toLowerCase().trim();
      const wanted = plain(${JSON.stringify(name)});
      return [...document.querySelectorAll('.search-results.active .result-name')].some(({ textContent }) => {
        const [first, item] = textContent.replace(/\\s+/g, ' ').split(' - see');
        return item === undefined ? plain(first.split('::').at(-1)) === wanted : plain(first).endsWith(wanted);
      });
    })()`;
    // The index comes in parts.
    let tries = 0;
    while (tries < 40 && !(await tab.evaluate(isFound))) {
      await sleep(100);
      tries += 1;
    }
    if (tries === 40) lost.push(name);
  }
  quiet('the reference');
  if (lost.length > 0) throw new Error(`the reference does not know ${lost.length} of ${names.length} names: ${lost.join(', ')}`);
  if (!text('reference/framestep/wait/fn.wait_seconds.html').includes('scraped-example')) throw new Error('the reference shows no example of wait_seconds');
  console.log(`the reference finds ${names.length} names of other engines and libraries`);
}
