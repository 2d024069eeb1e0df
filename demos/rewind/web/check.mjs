// Opens the page in headless Chromium, saves a game, and reloads the page: the game must go on
// where it was. Then it must refuse what is no save of it, and continue a save that the desktop
// has written. Prints what the page says, writes the save of the browser into a file, and
// takes pictures.
//
// node check.mjs CHROMIUM PAGE PICTURES DESKTOP BROWSER: two folders, and two saves.

import { readFileSync, writeFileSync } from 'node:fs';

import { visit } from '../../../scripts/lib/browser.mjs';

const [chromium, page, pictures, desktop, browser] = process.argv.slice(2);
const [S, L, R] = [['KeyS', 83], ['KeyL', 76], ['KeyR', 82]];

// Counts the frames that the page draws.
const script = `
  window.drawn = 0;
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => request((now) => {
    window.drawn += 1;
    draw(now);
  });`;
const options = {
  chromium, page, pictures, query: '?demo', width: 960, height: 540, script,
  figures: '({ frame: window.drawn ?? 0 })',
};

await visit(options, async (tab) => {
  let read = 0;
  /// Waits for a line, and returns what its groups match.
  const line = async (words) => {
    const first = (await tab.figures()).frame;
    let match;
    await tab.until(({ frame }) => {
      while (!match && read < tab.lines.length) match = words.exec(tab.lines[read++]);
      // The game goes on to draw frames, even if it never prints the line.
      if (!match && frame > first + 3_600) {
        throw new Error(`no line like ${words} in 3,600 frames:\n${tab.lines.join('\n')}`);
      }
      return match;
    });
    return match.slice(1);
  };
  /// Waits until the game has passed so many steps.
  const passed = async (steps) => {
    read = tab.lines.length;
    while (Number((await line(/^step (\d+): state /))[0]) < steps);
  };
  const stored = (text) => tab.evaluate(`localStorage.setItem('framestep-rewind', '${text}')`);

  await passed(240);
  await tab.picture('web-1-forwards');
  await tab.press(...S);
  const [at, length] = await line(/^saved at step (\d+): (\d+) bytes in the browser's storage$/);
  await tab.picture('web-2-saved');
  await passed(Number(at) + 180);
  await Promise.all([
    tab.press(...R, 90),
    tab.frames(45).then(() => tab.picture('web-3-rewinding')),
  ]);
  await passed(Number(at) + 180);

  const text = await tab.evaluate("localStorage.getItem('framestep-rewind')");
  writeFileSync(browser, Buffer.from(text, 'base64'));
  await tab.reload();
  const [from] = await line(/^continued from the browser's storage, at step (\d+)$/);
  if (from !== at) throw new Error(`saved at ${at}, continued at ${from}`);
  await tab.picture('web-4-continued');
  await passed(Number(at) + 180);

  // Half a save, a save of another build, and no save at all: the game goes on.
  const half = Buffer.from(text, 'base64').subarray(0, length / 2);
  const other = Buffer.from(text, 'base64').fill('0', 17, 33);
  for (const [bytes, words] of [
    [half, /^cannot load: the save (is damaged.*)/],
    [other, /^cannot load: the save (is from another build) of the game$/],
    [Buffer.from('something else'), /^cannot load: this is (not a save) of the game$/],
  ]) {
    await stored(bytes.toString('base64'));
    await tab.press(...L);
    await line(words);
    await tab.frames(5);
  }
  await tab.picture('web-5-refused');
  await stored('?');
  await tab.press(...L);
  await line(/^cannot load: what is stored is not (base64)$/);
  await passed(0);

  await tab.evaluate(`
    localStorage.clear();
    for (let more = 2 ** 23; more >= 1; more /= 2) {
      try {
        localStorage.full = (localStorage.full ?? '') + 'x'.repeat(more);
      } catch {}
    }`);
  await tab.press(...S);
  await line(/^cannot save: the browser's storage is (full), or not allowed$/);
  await tab.picture('web-6-full');
  await tab.evaluate('localStorage.clear()');

  await stored(readFileSync(desktop).toString('base64'));
  await tab.reload();
  const [step] = await line(/^continued from the browser's storage, at step (\d+)$/);
  await tab.picture('web-7-from-the-desktop');
  await passed(Number(step) + 120);
  console.log(tab.lines.join('\n'));
  console.log(`a save of ${length} bytes takes ${text.length} characters of local storage`);
});
