// Checks the site in headless Chromium. No link is broken, every page opens without an error in
// the console, no page is wider than a phone, each game of the gallery draws 300 frames while
// lines of its code are marked, and the playground shows what is typed into it. No program contains
// a path of the machine that has built it. Takes pictures of each kind of page in light, in dark and at the
// width of a phone.
//
// node check.mjs CHROMIUM SITE PICTURES [--links]: the last word checks the links alone.

import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, posix } from 'node:path';

import { visit } from '../scripts/lib/browser.mjs';
import { serve } from './serve.mjs';

const [chromium, site, pictures, extent] = process.argv.slice(2);
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
  const html = text(path).replace(/<!--[\s\S]*?-->/g, '').replace(/<script[\s\S]*?<\/script>/g, (script) => script.split('>')[0]);
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
if (extent === '--links') process.exit(0);

// -- Programs ---------------------------------------------------------------------------------

for (const path of readdirSync(site, { recursive: true }).filter((name) => name.endsWith('.wasm'))) {
  const words = readFileSync(join(site, path), 'latin1');
  for (const place of [homedir(), process.cwd(), dirname(site)]) {
    const at = words.indexOf(`${place}/`);
    if (at >= 0) throw new Error(`${path} contains a path of this machine: ${/^[\x20-\x7e]*/.exec(words.slice(at))[0].slice(0, 120)}`);
  }
}

// -- Pages ------------------------------------------------------------------------------------

const server = await serve(site);
const wide = { width: 1280, height: 900 };
const phone = { width: 390, height: 844, mobile: true };
const scenes = JSON.parse(readFileSync(new URL('scenes.json', import.meta.url)));
// The reference is rustdoc's; one page of each package stands for it. A game alone is played below.
const opened = files.filter((path) => !path.startsWith('play/') && !/\/(print|toc|404)\.html$/.test(path)
  && (!path.startsWith('reference/') || path.split('/').length <= 3 && path.endsWith('index.html')));
const options = { chromium, server, pictures, ...wide, minutes: 3, figures: '({ frame: document.querySelector("iframe")?.contentWindow?.drawn ?? 0 })' };

await visit(options, async (tab, root) => {
  const quiet = (path) => {
    if (tab.errors.length > 0) throw new Error(`${path} prints errors`);
  };
  await tab.look({ ...phone, theme: 'light' });
  const tooWide = [];
  for (const path of opened) {
    await tab.go(root + path);
    quiet(path);
    const [needed, has, title] = await tab.evaluate('[document.documentElement.scrollWidth, innerWidth, document.title]');
    if (!title) throw new Error(`${path} has no title`);
    if (has > phone.width || needed > phone.width) tooWide.push(`${path}: ${Math.max(needed, has)}`);
  }
  if (tooWide.length > 0) throw new Error(`wider than a phone of ${phone.width}:\n${tooWide.join('\n')}`);
  console.log(`${opened.length} pages open without an error, none wider than a phone`);

  const kinds = { home: 'index.html', gallery: 'gallery/index.html', book: 'book/docs/guide/waits.html',
    coming: 'book/docs/guide/coming-from/unity.html', compare: 'book/COMPARE.html', charts: 'book/benches/compare/index.html',
    reference: 'reference/index.html', crate: 'reference/framestep/index.html', source: 'source/examples/lines.rs.html' };
  for (const [name, path] of Object.entries(kinds)) {
    if (!existsSync(join(site, path))) continue;
    for (const [kind, look] of [['light', { ...wide, theme: 'light' }], ['dark', { ...wide, theme: 'dark' }],
      ['phone', { ...phone, theme: 'light' }]]) {
      await tab.look(look);
      await tab.go(root + path);
      await new Promise((later) => setTimeout(later, 300));
      await tab.picture(`${name}-${kind}`);
      quiet(path);
    }
  }

  // The buttons of the first page go through the run.
  await tab.look({ ...wide, theme: 'light' });
  await tab.go(root);
  const waits = await tab.evaluate(`[...document.querySelectorAll('.frames button')].map((button) => {
    button.focus();
    button.click();
    return document.querySelectorAll('.line.waits').length;
  })`);
  if (waits.length !== 6 || waits.join() !== '1,2,2,2,2,0') throw new Error(`the first page marks ${waits} lines`);

  if (existsSync(join(site, 'play/playground'))) await tryPlayground(tab, root, quiet);

  for (const { id } of scenes) {
    if (!existsSync(join(site, 'play', id))) {
      console.log(`not played, because it was not built: ${id}`);
      continue;
    }
    for (const [kind, look] of [['light', { ...wide, theme: 'light' }], ['dark', { ...wide, theme: 'dark' }],
      ['phone', { ...phone, theme: 'dark' }]]) {
      await tab.look(look);
      await tab.go(`${root}gallery/${id}.html`);
      const [x, y, isThere] = await tab.evaluate(`(() => {
        const button = document.querySelector('.stage .start');
        button.scrollIntoView({ block: 'center' });
        const { left, top, width, height } = button.getBoundingClientRect();
        const [x, y] = [left + width / 2, top + height / 2];
        return [x, y, height > 100 && button.contains(document.elementFromPoint(x, y))];
      })()`);
      if (!isThere) throw new Error(`${id}, ${kind}: nobody sees the button that starts the game`);
      await tab.click(x, y);
      const seen = new Set();
      const standsStill = (error) => {
        throw new Error(`${id}: ${error.message}`);
      };
      const played = await tab.until(({ frame }) => frame >= 2).catch(standsStill);
      while ((await tab.figures()).frame < played.frame + (kind === 'light' ? 300 : 60)) {
        await tab.frames(10).catch(standsStill);
        for (const line of await tab.evaluate("[...document.querySelectorAll('.line.waits')].map(({ id }) => id)")) seen.add(line);
      }
      const { frame } = await tab.figures();
      const [reports, began] = await tab.evaluate('[document.body.dataset.reports, document.body.dataset.began]');
      if (!reports || seen.size < 3) throw new Error(`${id}: ${reports} reports in ${frame} frames, ${seen.size} lines marked`);
      await tab.picture(`${id}-${kind}`);
      if (kind === 'light') console.log(`${id}: ${frame} frames, the first after ${began} s, ${seen.size} lines marked`);
    }
  }
});

/// Types into the playground, and looks at what it shows.
async function tryPlayground(tab, root, quiet) {
  const wait = async (condition, what) => {
    for (let tries = 0; !(await tab.evaluate(condition)); tries += 1) {
      if (tries > 150) throw new Error(`the playground: ${what}`);
      await new Promise((later) => setTimeout(later, 200));
    }
  };
  const runs = () => tab.evaluate('Number(document.body.dataset.runs)');
  const changed = async (change) => {
    const before = await runs();
    await tab.evaluate(change);
    await wait(`Number(document.body.dataset.runs) > ${before}`, 'a change leads to no run');
  };
  const said = () => tab.evaluate('document.querySelector(".problems").textContent');
  const type = (text) => changed(`(() => {
    const area = document.querySelector('textarea');
    area.value = ${JSON.stringify(text)};
    area.dispatchEvent(new Event('input'));
  })()`);
  const choose = (name) => changed(`(() => {
    const list = document.querySelector('#preset');
    list.value = '${name}';
    list.dispatchEvent(new Event('change'));
  })()`);
  /// The printed lines up to the last frame, each with its frame.
  const printed = () => tab.evaluate(`(() => {
    const slider = document.querySelector('#frame');
    slider.value = slider.max;
    slider.dispatchEvent(new Event('input'));
    return [...document.querySelectorAll('.happens .output div')].map((row) => row.textContent.trim()).join('|');
  })()`);
  const expect = (is, wanted, what) => {
    if (is !== wanted) throw new Error(`the playground: ${what}: ${is}`);
  };

  for (const [kind, look] of [['light', { ...wide, theme: 'light' }], ['dark', { ...wide, theme: 'dark' }],
    ['phone', { ...phone, height: 1700, theme: 'dark' }]]) {
    await tab.look(look);
    // The same address again would load nothing.
    await tab.go('about:blank');
    await tab.go(`${root}gallery/playground.html#lever`);
    await wait('document.body.dataset.began', 'it does not begin');
    await tab.evaluate("document.querySelector('#frame').value = 5; document.querySelector('#frame').dispatchEvent(new Event('input'))");
    await tab.picture(`playground-${kind}`);
    quiet('the playground');
  }
  await tab.look({ ...wide, theme: 'light' });
  await tab.go('about:blank');
  await tab.go(`${root}gallery/playground.html`);
  await wait('document.body.dataset.began', 'it does not begin');
  const began = await tab.evaluate('document.body.dataset.began');
  const presets = JSON.parse(await tab.evaluate(`JSON.stringify([...document.querySelector('#preset').options].map(({ value }) => value).filter(Boolean))`));
  for (const name of presets) {
    if (name !== 'door') await choose(name);
    const problems = await said();
    if (name === 'stuck' ? !problems.includes('gate waits at line 4 for signal gate opened') : problems !== '') {
      throw new Error(`the playground: ${name}: ${problems}`);
    }
  }
  await type('async fn game() {\n    println!("one");\n    wait_seconds(1).await;\n    println!("two");\n}\n');
  expect(await printed(), '0  one|4  two', 'a script that is typed');
  // The button behind the number at the cursor.
  await tab.evaluate("document.querySelector('textarea').setSelectionRange(56, 56)");
  await changed("document.querySelector('#more').click()");
  expect(await printed(), '0  one|8  two', 'a number that is changed');
  await changed(`(() => {
    const list = document.querySelector('#insert');
    list.value = 'next_frame().await;';
    list.dispatchEvent(new Event('change'));
  })()`);
  expect(await printed(), '0  one|9  two', 'a wait that is inserted');
  const link = await tab.evaluate("document.querySelector('#link').click(), location.href");
  await type('async fn game() {\n    wait_second(1).await;\n}\n');
  if (!(await said()).startsWith('line 2 game ends in frame 0: there is no function `wait_second`')) throw new Error(`the playground: ${await said()}`);
  await type('async fn game() {\n    oh no\n}\n');
  expect(await said(), 'line 2 `;` belongs here, before `no`', 'what cannot be read');
  // What was copied, in another tab.
  await tab.go('about:blank');
  await tab.go(link);
  await wait('document.body.dataset.began', 'it does not begin');
  expect(await printed(), '0  one|9  two', 'a link');
  quiet('the playground');
  console.log(`the playground: ${presets.length} scripts, the first frames after ${began} s; what is typed, inserted and linked`);
}
