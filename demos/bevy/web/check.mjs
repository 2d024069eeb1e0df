// Opens the page in headless Chromium, twice. The first time, the game plays by itself
// without a window, and must reach its end. The second time, it is drawn, and keys are
// pressed. Frames continue, even behind the pause menu, and no error is printed. Takes
// pictures.
//
// node check.mjs CHROMIUM PAGE PICTURES: the last two are folders.

import { visit } from '../../../scripts/lib/browser.mjs';

const [chromium, page, pictures] = process.argv.slice(2);

// Counts frames: Bevy asks for each in one of these ways.
const script = `
  window.game = { frame: 0 };
  for (const name of ['requestAnimationFrame', 'setTimeout']) {
    const ask = window[name].bind(window);
    window[name] = (call, ...rest) => ask((...values) => {
      window.game.frame += 1;
      call(...values);
    }, ...rest);
  }
`;
const figures = 'window.game';
const options = { chromium, page, pictures, width: 1_088, height: 576, script, figures };

await visit({ ...options, query: '?--demo' }, async (tab) => {
  let end;
  await tab.until(() => {
    end = tab.lines.join('\n').match(/\d+ frames, \d+ pictures, \d+ coins/);
    return end !== null;
  });
  console.log(`the whole game in the browser, without a window: ${end[0]}`);
});

await visit(options, async (tab) => {
  await tab.frames(20);
  await tab.picture('1-room');
  const began = Date.now();
  const first = await tab.figures();
  const now = await tab.frames(60);
  const rate = (1_000 * (now.frame - first.frame)) / (Date.now() - began);
  await tab.press('ArrowUp', 38, 10);
  await tab.press('Space', 32);
  await tab.picture('2-hall');

  await tab.press('Escape', 27);
  await tab.frames(20);
  await tab.picture('3-menu');
  await tab.press('Escape', 27);
  await tab.frames(20);
  await tab.picture('4-hall');
  console.log(`${rate.toFixed(0)} frames a second in a browser that draws without a GPU`);
});
