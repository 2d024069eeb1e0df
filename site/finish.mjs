// The last step of a site: what stands in the head of every page, of the book and the reference, too: a
// description from its first sentence, an icon, and what a link to it shows elsewhere. And boxes for wide tables.
//
// node finish.mjs SITE [ADDRESS]: the folder of the site, and where it will be published. Pictures of shared
// links need that address.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [site, at = ''] = process.argv.slice(2);
const pages = readdirSync(site, { recursive: true }).filter((path) => path.endsWith('.html') && !path.startsWith('play/'));

/// What pages show that name no picture of their own.
const pictures = [[/panel/, 'pictures/panel.jpg'], [/bevy/, 'pictures/dungeon.png'], [/sav|rewind|durable|rooms|porting/, 'pictures/rewind.jpg'],
  [/./, 'pictures/boss.png']];
const plain = (html) => html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ').trim();
/// At most so many letters, up to the end of a word.
const short = (text) => (text.length <= 200 ? text : `${text.slice(0, 197).replace(/\s+\S*$/, '')}..`);

for (const path of pages) {
  const html = readFileSync(join(site, path), 'utf8');
  const up = '../'.repeat(path.split('/').length - 1);
  const main = html.slice(html.indexOf('<main'));
  const title = plain(/<title>([\s\S]*?)<\/title>/.exec(html)?.[1] ?? '');
  // The book and rustdoc have the same one for many pages.
  const own = /^(book|reference\/.*)\//.test(path) ? undefined : /<meta name="description" content="([^"]*)">/.exec(html)?.[1];
  // Of a paragraph that says something; a line of links does not.
  const first = [...main.matchAll(/<p>([\s\S]*?)<\/p>/g)].map(([, words]) => plain(words)).find((words) => words.length > 30);
  const description = short((own ?? first ?? `${title}, of framestep.`).replaceAll('"', '&quot;'));
  const named = /<meta property="og:image" content="(?:\.\.\/)*([^"]*)">/.exec(html)?.[1];
  const picture = (at ? `${at.replace(/\/$/, '')}/` : up) + (named ?? pictures.find(([kind]) => kind.test(path))[1]);
  const head = [`<meta name="description" content="${description}">`, `<link rel="icon" href="${up}icon.svg" type="image/svg+xml">`,
    '<meta property="og:type" content="website">', '<meta property="og:site_name" content="framestep">', `<meta property="og:title" content="${title.replaceAll('"', '&quot;')}">`,
    `<meta property="og:description" content="${description}">`, `<meta property="og:image" content="${picture}">`,
    '<meta name="twitter:card" content="summary_large_image">'];
  // mdbook wraps the tables of Markdown alone.
  const wrapped = !path.startsWith('book/') ? html : html.replace(/(<div class="table-wrapper">\s*)?<table>([\s\S]*?)<\/table>/g,
    (whole, wrapper) => (wrapper ? whole : `<div class="table-wrapper">${whole}</div>`));
  writeFileSync(join(site, path), wrapped
    .replace(/\s*<meta (?:name="description"|property="og:image") content="[^"]*"\/?>/g, '')
    .replace(/\s*<link rel="(?:alternate icon|shortcut icon|icon)"[^>]*>/g, '')
    .replace('</head>', `${head.join('\n')}\n</head>`));
}
console.log(`${pages.length} pages with a description, an icon and a picture`);
