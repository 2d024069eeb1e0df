// Opens the page in headless Chromium: frames continue, even behind the pause menu,
// and no error is printed. Takes pictures.
//
// node check.mjs CHROMIUM PAGE PICTURES: the last two are folders.

import { visit } from '../../../scripts/lib/browser.mjs';

const [chromium, page, pictures] = process.argv.slice(2);
const size = { width: 960, height: 540 };

await visit({ chromium, page, pictures, ...size, figures: 'window.framestep' }, async (tab) => {
  await tab.frames(60);
  await tab.picture('web-dialogue');
  const began = Date.now();
  const first = await tab.figures();
  let now = first;
  // At that frame, the pilot has let the first enemies in, however slow the machine
  // is.
  while (now.frame < first.frame + 600 || Date.now() - began < 14_000) now = await tab.frames(60);
  await tab.picture('web-wave');
  const rate = (1_000 * (now.frame - first.frame)) / (Date.now() - began);

  await tab.press('Escape', 27);
  await tab.frames(40);
  await tab.picture('web-menu');
  const paused = await tab.frames(30);
  if (paused.frame <= now.frame) throw new Error('no frames behind the menu');
  await tab.press('Enter', 13);
  await tab.frames(60);
  await tab.press('F1', 112);
  await tab.picture('web-no-overlay');
  console.log(`${paused.frame} frames in the browser, ${rate.toFixed(0)} a second: `
    + `${now.coroutines} coroutines take ${now.milliseconds.toFixed(2)} ms a frame`);
});
