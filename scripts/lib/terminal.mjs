// Draws what a terminal has shown, as tmux captures it with its colours, in headless Chromium.
//
// node terminal.mjs CHROMIUM SCREENS PICTURES COLUMNS ROWS: a picture for each file of a folder.

import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { visit } from './browser.mjs';

const [chromium, screens, pictures, columns, rows] = process.argv.slice(2);

const basic = ['#1d2021', '#cc4b4b', '#6fae5a', '#d3a13c', '#5b8fd6', '#b06fc4', '#4fb0b0', '#c9ced8',
  '#6b7280', '#ef6b6b', '#95d67e', '#f2c45c', '#84b4f5', '#d295e6', '#7fdada', '#f4f6fa'];

function colour(number) {
  if (number < 16) return basic[number];
  if (number >= 232) return `rgb(${Array(3).fill(8 + 10 * (number - 232)).join()})`;
  const part = (of) => [0, 95, 135, 175, 215, 255][Math.floor((number - 16) / of) % 6];
  return `rgb(${part(36)},${part(6)},${part(1)})`;
}

/// The escape sequences of colours as HTML.
function html(text) {
  let style = {};
  let out = '';
  for (const piece of text.replace(/\n$/, '').split(/(\x1b\[[\d;]*m)/)) {
    const codes = /^\x1b\[([\d;]*)m$/.exec(piece)?.[1].split(';').map(Number);
    if (!codes) {
      const { color = '#d8dce6', background, weight = 400, isReverse, isDim } = style;
      const [front, back] = isReverse ? [background ?? '#101319', color] : [color, background];
      const words = piece.replaceAll(/\x1b[^m]*m|\x0e|\x0f/g, '').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      out += `<span style="color:${front};${back ? `background:${back};` : ''}font-weight:${weight};opacity:${isDim ? 0.65 : 1}">${words}</span>`;
      continue;
    }
    while (codes.length > 0) {
      const code = codes.shift();
      if (code === 38 || code === 48) {
        const name = code === 38 ? 'color' : 'background';
        style[name] = codes.shift() === 2 ? `rgb(${codes.splice(0, 3).join()})` : colour(codes.shift());
      } else if (code === 0) style = {};
      else if (code === 1) style.weight = 700;
      else if (code === 2) style.isDim = true;
      else if (code === 7) style.isReverse = true;
      else if (code === 22) Object.assign(style, { weight: 400, isDim: false });
      else if (code === 27) style.isReverse = false;
      else if (code === 39) style.color = undefined;
      else if (code === 49) style.background = undefined;
      else if (code >= 30 && code <= 37) style.color = basic[code - 30];
      else if (code >= 90 && code <= 97) style.color = basic[code - 82];
      else if (code >= 40 && code <= 47) style.background = basic[code - 40];
      else if (code >= 100 && code <= 107) style.background = basic[code - 92];
    }
  }
  return out;
}

mkdirSync(pictures, { recursive: true });
const page = mkdtempSync(join(tmpdir(), 'framestep-terminal-'));
writeFileSync(join(page, 'index.html'), `<!DOCTYPE html><meta charset="utf-8"><title>a terminal</title><link rel="icon" href="data:,">
<style>body { margin: 0; background: #101319; overflow: hidden } pre { margin: 8px; font: 13px/16px "DejaVu Sans Mono", monospace }</style><pre></pre>`);
const options = { chromium, page, pictures, width: Math.ceil(columns * 7.83) + 16, height: rows * 16 + 16, figures: '({ frame: 0 })' };
await visit(options, async (tab) => {
  for (let tries = 0; !(await tab.evaluate("document.querySelector('pre') !== null")); tries += 1) {
    if (tries > 100) throw new Error('the page does not load');
    await new Promise((later) => setTimeout(later, 100));
  }
  for (const [number, file] of readdirSync(screens).sort().entries()) {
    await tab.evaluate(`document.querySelector('pre').innerHTML = ${JSON.stringify(html(readFileSync(join(screens, file), 'utf8')))}`);
    await tab.picture(String(number).padStart(3, '0'));
  }
});
rmSync(page, { recursive: true });
