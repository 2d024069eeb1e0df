// Plays in the arena in headless Chromium, while its nodes are killed: all that the page sends
// must be in the log and applied exactly once, and the room must go on. Prints figures, and takes
// pictures.
//
// node check.mjs CHROMIUM PAGE PICTURES: two folders. The page is as the arena has served it.

import { visit } from '../../../scripts/lib/browser.mjs';

const [chromium, page, pictures] = process.argv.slice(2);
const [RIGHT, DOWN, SPACE, B] = [['ArrowRight', 39], ['ArrowDown', 40], ['Space', 32], ['KeyB', 66]];
/// Frames of the room: about half a minute.
const LONG = 900;

const options = {
  chromium, page, pictures, width: 980, height: 680,
  figures: '({ ...arena.state, frame: arena.state.views, at: arena.state.frame })',
};

await visit(options, async (tab) => {
  const applied = '(arena.state.view?.heroes.find((hero) => hero[0] === "alice")?.[7] ?? 0)';
  /// Waits until all that was sent is applied.
  const settled = async () => {
    await tab.until(({ number, acknowledged }) => number > 0 && acknowledged === number);
    const { number } = await tab.figures();
    let has = 0;
    for (let frames = 0; frames < 300 && has < number; frames += 10) {
      await tab.frames(10);
      has = await tab.evaluate(applied);
    }
    if (has !== number) throw new Error(`${number} inputs were sent, and ${has} applied`);
    return number;
  };
  await tab.frames(60);
  await tab.press(...RIGHT, 20);
  await tab.press(...SPACE);
  await tab.press(...B);
  await settled();
  await tab.picture('page-1');
  const until = (await tab.figures()).at + LONG;
  for (let round = 0; (await tab.figures()).at < until; round += 1) {
    await tab.press(...(round % 2 ? RIGHT : DOWN), 10);
    await tab.press(...SPACE);
  }
  const number = await settled();
  const { at, views, longest } = await tab.figures();
  await tab.picture('page-2');
  // Each frame has one view, unless it was lost on the way.
  console.log(`the page: ${number} inputs, each applied once; frame ${at}, ${views} views, longest pause ${Math.round(longest)} ms`);
});
