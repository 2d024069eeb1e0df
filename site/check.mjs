// Checks the site in headless Chromium. No link is broken, every page opens without an error in
// the console, no page is wider than a phone, and each game of the gallery draws 300 frames while
// lines of its code are marked. Takes pictures of each kind of page in light, in dark and at the
// width of a phone.
//
// node check.mjs CHROMIUM SITE PICTURES [--links]: the last word checks the links alone.

import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

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
  // Rustdoc checks its own links; its pages link to sources and sidebars by script.
  const isReference = path.startsWith('reference/') && path !== 'reference/index.html';
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

// -- Pages ------------------------------------------------------------------------------------

const server = await serve(site);
const wide = { width: 1280, height: 900 };
const phone = { width: 390, height: 844, mobile: true };
const scenes = JSON.parse(readFileSync(new URL('scenes.json', import.meta.url)));
// The reference is rustdoc's; one page of each package stands for it. A game alone is played below.
const opened = files.filter((path) => !path.startsWith('play/') && !/\/(print|toc|404)\.html$/.test(path)
  && (!path.startsWith('reference/') || path.split('/').length <= 3 && path.endsWith('index.html')));
const options = { chromium, server, pictures, ...wide, figures: '({ frame: document.querySelector("iframe")?.contentWindow?.drawn ?? 0 })' };

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

  for (const { id } of scenes) {
    if (!existsSync(join(site, 'play', id))) {
      console.log(`not played, because it was not built: ${id}`);
      continue;
    }
    for (const [kind, look] of [['light', { ...wide, theme: 'light' }], ['dark', { ...wide, theme: 'dark' }],
      ['phone', { ...phone, theme: 'dark' }]]) {
      await tab.look(look);
      await tab.go(`${root}gallery/${id}.html`);
      await tab.evaluate("document.querySelector('.stage .start').click()");
      const seen = new Set();
      const played = await tab.until(async ({ frame }) => frame >= 2);
      while ((await tab.figures()).frame < played.frame + (kind === 'light' ? 300 : 60)) {
        await tab.frames(10);
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
