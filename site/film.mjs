// Films games of the gallery, from real runs in headless Chromium, in time that this script moves: a
// frame of a game is a 60th of a second, however slow the machine is. What the game measures is real.
//
// node film.mjs CHROMIUM SITE FRAMES [NAME..]: writes pictures into a folder for each film.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { visit } from '../scripts/lib/browser.mjs';
import { serve } from './serve.mjs';

const [chromium, site, frames, ...names] = process.argv.slice(2);

// Runs before the scripts of the page.
const script = `
  let now = 0;
  let waiting = [];
  Date.now = () => 1.7e12 + now;
  window.requestAnimationFrame = (draw) => waiting.push(draw);
  window.steps = 0;
  window.step = (count) => {
    for (let left = count; left > 0; left -= 1) {
      now += 1000 / 60;
      window.steps += 1;
      const drawn = waiting;
      waiting = [];
      for (const draw of drawn) draw(now);
    }
    return window.steps;
  };`;

/// What is hidden of a page of the gallery.
const around = `.site-bar, main > :not(.two), footer, .keys, .files, .stage ~ p, .follow, .panes + p { display: none !important; }
  html { overflow: hidden; } body.site main { padding: 0; } .two.play .stage { margin: 0 !important; }
  .two.play .panes pre.code { height: 216px; overflow: hidden; border: 0; border-radius: 0; }
  pre.code .line.left { animation: none; }`;

/// Of each film: its page and its size, 640 by 360 if none is named; whether it shows a game inside a page
/// of the gallery, with its code, and which script is followed; frames before it; a condition that
/// it waits for further; its pictures, and the frames between two of them; keys that are held from one
/// picture to another; places that are clicked at a picture; and whether polls take time on the
/// clock of the page: a picture of the panel would warn of them.
const films = [
  { name: 'rewind', page: 'play/rewind/index.html?demo', skip: 420, pictures: 60, every: 5,
    keys: [['KeyR', 'r', 24, 48]] },
  // Marks run back with the world: the page itself, without what stands around the game and its code.
  { name: 'marks', page: 'gallery/rewind.html', width: 640, height: 576, isInside: true, follows: 'volleys', skip: 480, pictures: 66, every: 5,
    keys: [['KeyR', 'r', 26, 60]] },
  { name: 'boss', page: 'play/boss/index.html', skip: 600, until: 'framestep.coroutines > 2350', pictures: 48, every: 5 },
  // The panel warns of the gate after four seconds; a click on the warning shows its script.
  { name: 'panel', page: 'play/panel/index.html', width: 960, height: 720, skip: 150, pictures: 56, every: 8,
    clicks: [[28, 250, 133]], hasSlowPolls: false },
  { name: 'dungeon', page: 'play/dungeon/index.html', width: 680, height: 360, skip: 60, pictures: 60, every: 5,
    keys: [['ArrowUp', 'ArrowUp', 2, 50]] },
];
for (const film of films) {
  const { name, page, isInside = false, follows, width = 640, height = 360, skip = 0, until = 'true', pictures, every, keys = [], clicks = [] } = film;
  if (names.length > 0 && !names.includes(name)) continue;
  const [file] = page.split(/[?#]/);
  const folder = join(frames, name);
  if (!existsSync(join(site, file))) {
    console.log(`no film of ${name}, which was not built`);
    continue;
  }
  mkdirSync(folder, { recursive: true });
  const options = { chromium, server: await serve(site), pictures: folder, width, height, script: script + (film.hasSlowPolls === false ? 'performance.now = () => now;' : ''),
    query: page, figures: '({ frame: window.steps ?? 0 })' };
  await visit(options, async (visited) => {
    const begun = async (condition) => {
      for (let tries = 0; !(await visited.evaluate(condition)); tries += 1) {
        if (tries > 300) throw new Error(`${name} does not begin`);
        await new Promise((later) => setTimeout(later, 100));
      }
    };
    if (isInside) {
      await begun("document.querySelector('.stage .start')?.offsetHeight > 100");
      await visited.evaluate(`document.head.append(Object.assign(document.createElement('style'), { textContent: ${JSON.stringify(around)} }));
        document.documentElement.classList.add('dark'); document.querySelector('.stage .start').click()`);
      await begun("document.querySelector('iframe')?.contentWindow.step && document.querySelector('iframe').contentWindow.eval('waiting.length > 0')");
    }
    // What moves the game is done where the game is.
    const tab = { move: visited.move.bind(visited), click: visited.click.bind(visited), picture: visited.picture.bind(visited),
      evaluate: (expression) => visited.evaluate(isInside ? `document.querySelector('iframe').contentWindow.eval(${JSON.stringify(expression)})` : expression) };
    // Until the game asks for frames.
    await begun(isInside ? 'true' : 'waiting.length > 0');
    for (let passed = 0; passed < skip; passed += 30) await tab.evaluate('step(30)');
    for (let tries = 0; !(await tab.evaluate(until)); tries += 1) {
      if (tries > 400) throw new Error(`${name}: never ${until}`);
      await tab.evaluate('step(30)');
    }
    if (follows) {
      await visited.evaluate(`document.querySelector('#followed').value = '${follows}'; document.querySelector('#followed').dispatchEvent(new Event('change'))`);
    }
    for (let picture = 0; picture < pictures; picture += 1) {
      for (const [code, key, from, to] of keys) {
        const type = { [from]: 'keydown', [to]: 'keyup' }[picture];
        if (type && isInside) {
          // The button of the key shows that it is held.
          await visited.evaluate(`document.querySelector('.keys [data-code="${code}"]').dispatchEvent(
            new PointerEvent('${type === 'keydown' ? 'pointerdown' : 'pointerup'}', { pointerId: 1, bubbles: true, cancelable: true }))`);
        } else if (type) {
          await tab.evaluate(`document.querySelector('canvas').dispatchEvent(
            new KeyboardEvent('${type}', { code: '${code}', key: '${key}', bubbles: true }))`);
        }
      }
      for (const [at, x, y] of clicks) {
        if (at !== picture) continue;
        // Between two frames each, as a hand does it.
        await tab.move(x, y);
        await tab.evaluate('step(2)');
        await tab.click(x, y, () => tab.evaluate('step(2)'));
      }
      await tab.evaluate(`step(${every})`);
      // The page hears of the marks a moment later.
      if (isInside) await new Promise((later) => setTimeout(later, 60));
      await tab.picture(String(picture).padStart(3, '0'));
    }
    console.log(`${name}: ${pictures} pictures, to frame ${await tab.evaluate('steps')}`);
  });
}
