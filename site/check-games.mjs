// Plays the games of the gallery in Chromium, for site/check.mjs, which also takes the windows from here.

export const wide = { width: 1280, height: 900 };
export const phone = { width: 390, height: 844, mobile: true };
export const widths = [phone, wide, { width: 1920, height: 1000 }];
export const sleep = (milliseconds) => new Promise((later) => setTimeout(later, milliseconds));

/// Plays a game: every button, file and choice, while lines are marked.
export async function play({ id, keys, files: shown, isWide }, { tab, page, wait, quiet }) {
  const begin = async (look) => {
    await tab.look(look);
    await page(`gallery/${id}.html`);
    const place = `(() => {
      const button = document.querySelector('.stage .start');
      button?.scrollIntoView({ block: 'center' });
      const { left, top, width, height } = button?.getBoundingClientRect() ?? {};
      const [x, y] = [left + width / 2, top + height / 2];
      return height > 100 && height < innerHeight * 0.95 && button.contains(document.elementFromPoint(x, y)) && [x, y];
    })()`;
    await wait(place, `${id}: nobody sees the button that starts the game`);
    await tab.click(...await tab.evaluate(place));
    await tab.until(({ frame }) => frame >= 2);
  };
  const marks = () => tab.evaluate("[...document.querySelectorAll('.line.waits')].map(({ id }) => id)");
  /// Lines that were marked in so many frames; it is an error if there are none at a time.
  const watch = async (frames, what) => {
    const seen = new Set();
    let isEmpty = 0;
    const first = (await tab.figures()).frame;
    while ((await tab.figures()).frame < first + frames) {
      await tab.frames(6);
      const now = await marks();
      if (now.length === 0) isEmpty += 1;
      for (const line of now) seen.add(line);
    }
    if (isEmpty > 1) throw new Error(`${id}, ${what}: no line is marked`);
    return seen;
  };
  const press = (code, type) => tab.evaluate(`document.querySelector('.keys [data-code="${code}"]').dispatchEvent(new PointerEvent('${type}', { pointerId: 1, bubbles: true, cancelable: true }))`);

  await begin({ ...wide, theme: 'light' });
  await wait('Number(document.body.dataset.reports) > 1', `${id} does not tell where its scripts wait`);
  const lines = await watch(240, 'at first');
  if (lines.size < 3) throw new Error(`${id}: ${lines.size} lines marked`);
  await tab.picture(`${id}-light`);
  for (const file of shown) {
    const [choice, isShown] = await tab.evaluate(`(() => {
      document.querySelector('.files [data-file="${file}"]').click();
      return [document.querySelector('#followed').value, !document.querySelector('.panes [data-file="${file}"]').hidden];
    })()`);
    if (choice !== 'file' || !isShown) throw new Error(`${id}: the tab ${file} shows it: ${isShown}, and follows ${choice}`);
    await tab.frames(2);
    // Somebody who opens a file sees where its scripts wait.
    const isSeen = await tab.evaluate(`(() => {
      const pane = document.querySelector('.panes [data-file="${file}"] pre');
      const lines = [...pane.querySelectorAll('.line.waits')];
      const inside = (line) => line.offsetTop - pane.offsetTop >= pane.scrollTop && line.offsetTop - pane.offsetTop < pane.scrollTop + pane.clientHeight;
      return lines.length === 0 || lines.some(inside);
    })()`);
    if (!isSeen) throw new Error(`${id}: ${file} is shown, but no line of it that waits`);
  }
  for (const name of await tab.evaluate("[...document.querySelector('#followed').options].map(({ value }) => value)")) {
    await tab.evaluate(`document.querySelector('#followed').value = ${JSON.stringify(name)}; document.querySelector('#followed').dispatchEvent(new Event('change'))`);
    await tab.frames(1);
  }
  for (const [words, code] of keys) {
    await press(code, 'pointerdown');
    // An open menu stops what it covers, but its own script waits.
    const held = await watch(code === 'KeyR' ? 90 : 24, words);
    if (code === 'KeyR' && held.size < 3) throw new Error(`${id}, ${words}: ${held.size} lines are marked`);
    if (code === 'KeyR') await tab.picture(`${id}-rewinding`);
    await press(code, 'pointerup');
    await tab.frames(6);
    quiet(`${id}, ${words}`);
  }
  if (id === 'rewind') await takeOver({ tab, press, begin });
  if (id === 'panel') await pause({ tab, begin });
  const { frame } = await tab.figures();
  console.log(`${id}: ${frame} frames, the first after ${await tab.evaluate('document.body.dataset.began')} s, ${lines.size} lines marked; ${keys.length} keys, ${shown.length} files`);

  // The link to the game alone: nothing plays it there.
  await page(await tab.evaluate("[...document.querySelectorAll('main a')].find(({ textContent }) => textContent === 'The game alone').getAttribute('href').replace('../', '')"));
  await wait("document.querySelector('canvas')?.offsetWidth > 100", `${id}: the game alone does not begin`);
  await sleep(2_000);
  quiet(`${id}, the game alone`);

  await begin({ ...widths[2], theme: 'dark' });
  await watch(60, 'in the dark');
  await tab.picture(`${id}-dark`);
  await begin({ ...phone, theme: 'dark' });
  await watch(60, 'on a phone');
  await tab.evaluate("document.querySelector('.panes').scrollIntoView({ block: 'end' })");
  await tab.frames(2);
  const both = await tab.evaluate(`(() => {
    const [game, code] = ['.stage', '.panes pre:not([hidden])'].map((query) => [...document.querySelectorAll(query)].find(({ offsetHeight }) => offsetHeight > 0).getBoundingClientRect());
    return game.top >= -1 && code.bottom > game.bottom + 150 && code.top < innerHeight;
  })()`);
  await tab.picture(`${id}-phone`);
  // The panel needs the height of a phone for itself.
  if (!both && !isWide) throw new Error(`${id}: a phone does not show the game and its code together`);
}

/// The first button of the panel stops the game, and lets it go on.
async function pause({ tab, begin }) {
  await begin({ ...wide, theme: 'light' });
  await tab.frames(60);
  const { left, top } = await tab.evaluate("(({ left, top }) => ({ left, top }))(document.querySelector('.stage').getBoundingClientRect())");
  const [x, y] = [left + 42, top + 73];
  const waits = () => tab.evaluate("[...document.querySelectorAll('.line.waits')].map(({ id, dataset }) => id + dataset.who).join()");
  const changes = async (frames) => {
    const before = await waits();
    for (let passed = 0; passed < frames; passed += 6) {
      await tab.frames(6);
      if (await waits() !== before) return true;
    }
    return false;
  };
  for (const goesOn of [false, true]) {
    let tries = 0;
    // For the panel, a press of most of a second is no click: a machine that draws slowly needs another.
    while (await changes(90) !== goesOn) {
      if (tries > 3) throw new Error(`panel: its first button does not ${goesOn ? 'let the game go on' : 'pause the game'}`);
      await tab.move(x, y);
      await tab.frames(3);
      await tab.click(x, y, () => tab.frames(1));
      tries += 1;
    }
    if (!goesOn) await tab.picture('panel-paused');
  }
}

/// The pilot prints a line about every 60th step: after an arrow key, no more.
async function takeOver({ tab, press, begin }) {
  await begin({ ...wide, theme: 'light' });
  const steps = () => tab.lines.filter((line) => line.startsWith('step ')).length;
  const before = steps();
  await tab.frames(150);
  if (steps() === before) throw new Error('rewind: the pilot does not play');
  await press('ArrowRight', 'pointerdown');
  await tab.frames(10);
  await press('ArrowRight', 'pointerup');
  const after = steps();
  await tab.frames(200);
  if (steps() !== after) throw new Error('rewind: an arrow key does not take over from the pilot');
}
