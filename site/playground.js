// The playground: runs the script of the editor after each change, in WebAssembly, and shows the
// frames of that run.

import { escape, highlight } from './highlight.js';

const root = document.querySelector('#playground');
const { wasm: program, presets } = JSON.parse(document.querySelector('#presets').textContent);
const find = (query) => root.querySelector(query);
const [area, shadow, problems] = [find('textarea'), find('.shadow'), find('.problems')];
const [preset, insert, length] = [find('#preset'), find('#insert'), find('#length')];
const [slider, place, play] = [find('#frame'), find('#place'), find('#play')];
const [names, lanes, events, output, scene] = [find('.names'), find('.lanes'), find('.events'), find('.output'), find('.scene')];
const began = performance.now();

/// The longest run: enough to see what repeats.
const seconds = 15;
const limit = 240;

// -- The program ------------------------------------------------------------------------------

let compiled;
let instance;

/// Runs a script. A trap would leave the program in an unknown state: the next run has a new one.
function run(text, dt) {
  instance ??= new WebAssembly.Instance(compiled, {});
  const { memory, script_of: scriptOf, run_script: runScript, answer } = instance.exports;
  try {
    const bytes = new TextEncoder().encode(text);
    const at = scriptOf(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const size = runScript(dt, Math.min(limit, Math.ceil(seconds / dt)));
    return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), size)));
  } catch (error) {
    instance = undefined;
    return { error: { line: 1, column: 1, words: `the playground itself fails at this script: ${error.message}. Please report it` } };
  }
}

// -- What is shown ----------------------------------------------------------------------------

/// The last run that could be read.
let film;
let current = 0;
let wrong = new Set();
let timer;

function update() {
  const result = run(area.value, Number(length.value));
  document.body.dataset.runs = Number(document.body.dataset.runs ?? 0) + 1;
  problems.replaceChildren();
  if (result.error) {
    wrong = new Set([result.error.line]);
    complain(result.error);
    root.classList.add('stale');
  } else {
    film = result;
    root.classList.remove('stale');
    wrong = new Set(film.mistakes.map(({ error }) => error.line));
    for (const { frame, script, error } of film.mistakes.slice(0, 5)) {
      complain(error, `${film.scripts[script]?.name ?? 'a script'} ends in frame ${frame}: `, frame);
    }
    if (film.goesOn) sayWhatGoesOn();
    slider.max = film.frames.length - 1;
    drawLanes();
  }
  show(Math.min(current, film ? film.frames.length - 1 : 0));
}

function complain({ line, column, words }, before = '', frame) {
  const item = document.createElement('li');
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: `line ${line}` });
  button.addEventListener('click', () => {
    if (frame !== undefined) show(frame);
    const lines = area.value.split('\n');
    const at = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0) + column - 1;
    area.focus();
    area.setSelectionRange(at, at);
  });
  item.append(button, ` ${before}${words}`);
  problems.append(item);
}

/// After the last frame: which scripts wait, and whether anything will resume them.
function sayWhatGoesOn() {
  const { waits } = film.frames.at(-1);
  const isOver = waits.every(({ kind }) => ['event', 'end', 'never'].includes(kind));
  const words = waits.slice(0, 3).map(({ script, lines, words: what }) =>
    `${film.scripts[script].name} waits ${lines.length > 0 ? `at line ${lines.join(' and ')} ` : ''}for ${what}`);
  const item = document.createElement('li');
  item.className = isOver ? 'stuck' : 'note';
  item.textContent = isOver
    ? `Nothing will resume what is left: ${words.join('; ')}.`
    : `Shown up to frame ${film.frames.length - 1}; ${waits.length === 1 ? 'a script goes on' : `${waits.length} scripts go on`}.`;
  problems.append(item);
}

/// The code with its colours, behind the text of the editor.
function paint() {
  const { lines, who } = waiting();
  shadow.innerHTML = highlight(`${area.value}\n`, { prefix: 'play-' });
  for (const [index, line] of [...shadow.querySelectorAll('.line')].entries()) {
    if (lines.has(index + 1) && !root.classList.contains('stale')) {
      line.classList.add('waits');
      line.dataset.who = who.get(index + 1).join(', ');
    }
    if (wrong.has(index + 1)) line.classList.add('wrong');
  }
  const code = shadow.querySelector('code');
  area.style.height = `${code.offsetHeight}px`;
  area.style.width = `${Math.max(code.offsetWidth, find('.editor').clientWidth - 2)}px`;
}

function waiting() {
  const who = new Map();
  for (const { script, lines } of film?.frames[current]?.waits ?? []) {
    for (const line of lines) who.set(line, [...(who.get(line) ?? []), film.scripts[script].name]);
  }
  for (const [line, all] of who) {
    const counts = Map.groupBy ? [...Map.groupBy(all, (name) => name)] : [...new Set(all)].map((name) => [name, all.filter((each) => each === name)]);
    who.set(line, counts.slice(0, 3).map(([name, { length: count }]) => (count > 1 ? `${name} ×${count}` : name)));
  }
  return { lines: new Set(who.keys()), who };
}

function show(frame) {
  current = frame;
  paint();
  if (!film) return;
  const { time, printed, events: happened, world } = film.frames[frame];
  slider.value = frame;
  slider.setAttribute('aria-valuetext', `frame ${frame}, ${time.toFixed(2)} s`);
  place.textContent = `frame ${frame} of ${film.frames.length - 1}, ${time.toFixed(2)} s`;
  lanes.querySelector('.now')?.setAttribute('x', frame * width);
  const left = frame * width;
  if (left < lanes.scrollLeft + width || left > lanes.scrollLeft + lanes.clientWidth - 3 * width) {
    lanes.scrollLeft = left - lanes.clientWidth / 3;
  }
  events.replaceChildren(...happened.slice(0, 40).map(describe));
  if (happened.length === 0) events.append(Object.assign(document.createElement('li'), { textContent: 'no script is due' }));
  if (happened.length > 40) events.append(Object.assign(document.createElement('li'), { textContent: `and ${happened.length - 40} more` }));
  output.replaceChildren();
  for (const [number, other] of film.frames.slice(0, frame + 1).entries()) {
    for (const { text } of other.printed) {
      output.append(Object.assign(document.createElement('div'), {
        className: number === frame ? 'now' : '', textContent: `${String(number).padStart(3)}  ${text}`,
      }));
    }
  }
  output.scrollTop = output.scrollHeight;
  if (printed.length === 0 && output.childElementCount === 0) output.textContent = 'nothing printed yet';
  drawScene(world);
}

function describe({ script, phase, what, of }) {
  const item = document.createElement('li');
  const name = script === null ? 'the host' : film.scripts[script]?.name ?? 'a script';
  const words = { began: 'is started', polled: 'is polled', finished: 'returns', stopped: 'is stopped', panicked: 'panics',
    emitted: `emits ${of}`, paused: 'is paused', resumed: 'is resumed' }[what];
  item.append(`${name} ${words}`);
  if (phase && what === 'polled') item.append(Object.assign(document.createElement('small'), { textContent: ` in ${phase}` }));
  return item;
}

// -- Lanes ------------------------------------------------------------------------------------

const height = 28;
let width = 22;
const letter = { Update: '', EarlyUpdate: 'E', FixedUpdate: 'F', LateUpdate: 'L', EndOfFrame: 'Z' };

function drawLanes() {
  const { scripts, frames } = film;
  const shown = scripts.slice(0, 24);
  width = frames.length > 120 ? 12 : 22;
  names.replaceChildren(...shown.map(({ name }) => Object.assign(document.createElement('div'), { textContent: name, title: name })));
  const parts = [];
  const total = frames.length * width;
  parts.push(`<rect class="now" y="0" width="${width}" height="${(shown.length + 1) * height}"/>`);
  const every = width < 20 ? 10 : 5;
  for (let frame = 0; frame < frames.length; frame += every) {
    parts.push(`<text class="number" x="${frame * width + width / 2}" y="18">${frame}</text>`);
  }
  for (const [number, script] of shown.entries()) {
    const y = (number + 1) * height;
    parts.push(`<line class="lane" x1="0" x2="${total}" y1="${y}" y2="${y}"/>`);
    for (let frame = script.began; frame <= Math.min(script.ended ?? Infinity, frames.length - 1); frame += 1) {
      const { waits, events: happened } = frames[frame];
      const wait = waits.find((each) => each.script === number);
      const x = frame * width;
      if (wait) {
        const says = `${script.name}, after frame ${frame}: ${wait.words || 'ready'}${wait.lines.length > 0 ? `, line ${wait.lines.join(' and ')}` : ''}`;
        parts.push(`<rect class="bar ${wait.kind}${wait.paused ? ' paused' : ''}" x="${x + width / 2}" y="${y + 9}" width="${width}" height="10"><title>${escape(says)}</title></rect>`);
      }
      const polls = happened.filter((event) => event.script === number && event.what === 'polled');
      if (polls.length > 0) {
        const letters = [...new Set(polls.map(({ phase }) => letter[phase] ?? ''))].join('');
        parts.push(`<circle class="poll" cx="${x + width / 2}" cy="${y + 14}" r="${width < 20 ? 3.5 : 5}"><title>${escape(
          `${script.name} is polled in frame ${frame}${polls.length > 1 ? `, ${polls.length} times` : ''}`)}</title></circle>`);
        if (letters && width > 20) parts.push(`<text class="phase" x="${x + width / 2}" y="${y + 9}">${letters}</text>`);
      }
      if (script.ended === frame) {
        parts.push(`<path class="end ${script.outcome}" d="M${x + width / 2 - 4},${y + 6}v16${script.outcome === 'finished' ? '' : 'm-5,-13l10,10m0,-10l-10,10'}"><title>${
          escape(`${script.name}: ${script.outcome} in frame ${frame}`)}</title></path>`);
      }
    }
  }
  const more = scripts.length - shown.length;
  if (more > 0) names.append(Object.assign(document.createElement('div'), { textContent: `and ${more} more` }));
  lanes.innerHTML = `<svg width="${total}" height="${(shown.length + 1) * height}" role="img" aria-label="Scripts by frame">${parts.join('')}</svg>`;
}

let isDragging = false;
function pick(event) {
  const box = lanes.querySelector('svg').getBoundingClientRect();
  const frame = Math.floor((event.clientX - box.left) / width);
  stop();
  show(Math.max(0, Math.min(film.frames.length - 1, frame)));
}
lanes.addEventListener('pointerdown', (event) => {
  isDragging = event.pointerType === 'mouse';
  pick(event);
});
lanes.addEventListener('pointermove', (event) => {
  if (isDragging) pick(event);
});
addEventListener('pointerup', () => {
  isDragging = false;
});

// -- The world --------------------------------------------------------------------------------

function drawScene({ hero, door, lamp, coins }) {
  const x = 14 + Math.max(-1, Math.min(12, hero)) * 9.2;
  const open = Math.max(0, Math.min(1, door));
  const glow = Math.max(0, Math.min(1, lamp));
  scene.querySelector('.hero').setAttribute('transform', `translate(${x.toFixed(2)}, 0)`);
  scene.querySelector('.leaf').setAttribute('height', (20 * (1 - open)).toFixed(2));
  scene.querySelector('.glow').setAttribute('opacity', glow.toFixed(3));
  scene.querySelector('.coins').textContent = `${coins} ${coins === 1 ? 'coin' : 'coins'}`;
}

// -- Time -------------------------------------------------------------------------------------

function stop() {
  clearInterval(timer);
  timer = undefined;
  play.textContent = 'Play';
}
function go() {
  stop();
  if (!film) return;
  if (current >= film.frames.length - 1) current = 0;
  play.textContent = 'Pause';
  timer = setInterval(() => {
    if (current >= film.frames.length - 1) stop();
    else show(current + 1);
  }, Math.max(110, Math.min(400, Number(length.value) * 1000)));
}
play.addEventListener('click', () => (timer ? stop() : go()));
const step = (by) => {
  stop();
  show(Math.max(0, Math.min(film.frames.length - 1, current + by)));
};
find('#back').addEventListener('click', () => step(-1));
find('#on').addEventListener('click', () => step(1));
slider.addEventListener('input', () => {
  stop();
  show(Number(slider.value));
});
lanes.addEventListener('keydown', ({ key }) => {
  if (key === 'ArrowLeft') step(-1);
  if (key === 'ArrowRight') step(1);
});
length.addEventListener('change', () => {
  current = 0;
  update();
});

// -- The editor -------------------------------------------------------------------------------

let changed;
function change() {
  // The text at once, its run when the reader pauses.
  paint();
  clearTimeout(changed);
  changed = setTimeout(update, 120);
}
area.addEventListener('input', () => {
  preset.value = '';
  change();
});

/// Replaces a part of the text so that the browser's undo knows of it.
function replace(from, to, text) {
  area.focus();
  area.setSelectionRange(from, to);
  if (!document.execCommand('insertText', false, text)) area.setRangeText(text, from, to, 'end');
  preset.value = '';
  change();
}
area.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.isComposing) return;
  event.preventDefault();
  const before = area.value.slice(0, area.selectionStart);
  const indent = /[^\n]*$/.exec(before)[0].match(/^ */)[0];
  replace(area.selectionStart, area.selectionEnd, `\n${indent}${before.endsWith('{') ? '    ' : ''}`);
});

/// The number at the cursor, or the next one in its line, or the first in the script.
function number() {
  const text = area.value;
  const at = area.selectionStart;
  const all = [...text.matchAll(/(?<![\w."])\d+(?:\.\d+)?(?![\w])/g)];
  const line = text.indexOf('\n', at);
  return all.find(({ index, 0: { length: size } }) => index <= at && at <= index + size)
    ?? all.find(({ index }) => index >= at && (line < 0 || index < line)) ?? all[0];
}
for (const [id, by] of [['#less', -1], ['#more', 1]]) {
  find(id).addEventListener('click', () => {
    const found = number();
    if (!found) return;
    const { index, 0: digits } = found;
    const places = (digits.split('.')[1] ?? '').length;
    const next = Math.max(0, Number(digits) + by * (places > 0 ? 0.25 : 1)).toFixed(places > 0 ? 2 : 0);
    const words = places > 0 ? next.replace(/(\.\d)0$/, '$1') : next;
    replace(index, index + digits.length, words);
    area.setSelectionRange(index, index + words.length);
  });
}
insert.addEventListener('change', () => {
  const text = area.value;
  const end = text.indexOf('\n', area.selectionStart);
  const at = end < 0 ? text.length : end;
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  // Behind the line of the cursor, inside of a block that it begins.
  const indent = line.match(/^ */)[0] + (/[{]\s*$/.test(line) ? '    ' : '');
  replace(at, at, `\n${indent}${insert.value.replaceAll('\n', `\n${indent}`)}`);
  insert.value = '';
});

function load(name) {
  stop();
  area.value = presets.find(({ id }) => id === name).text;
  preset.value = name;
  current = 0;
  update();
}
preset.addEventListener('change', () => {
  if (!preset.value) return;
  history.replaceState(null, '', `#${preset.value}`);
  load(preset.value);
});
find('#link').addEventListener('click', async ({ currentTarget }) => {
  const bytes = new TextEncoder().encode(area.value);
  const code = btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  history.replaceState(null, '', `#script=${code}`);
  try {
    await navigator.clipboard.writeText(location.href);
    currentTarget.textContent = 'Copied';
  } catch {
    currentTarget.textContent = 'It is in the address bar';
  }
});

/// What the address asks for.
function open() {
  const hash = location.hash.slice(1);
  const [, code] = /^script=([\w-]+)$/.exec(hash) ?? [];
  if (code) {
    try {
      const bytes = Uint8Array.from(atob(code.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0));
      area.value = new TextDecoder().decode(bytes);
      preset.value = '';
      update();
      return;
    } catch {
      // A link that was cut off: the first script.
    }
  }
  load(presets.some(({ id }) => id === hash) ? hash : presets[0].id);
}

area.value = presets[0].text;
paint();
try {
  compiled = await WebAssembly.compileStreaming(fetch(program));
  open();
  addEventListener('hashchange', open);
  document.body.dataset.began = ((performance.now() - began) / 1000).toFixed(2);
  document.querySelector('#figures').textContent = `The first run was there after ${document.body.dataset.began} s, here and now.`;
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches) go();
} catch (error) {
  problems.append(Object.assign(document.createElement('li'), { textContent: `The program does not load: ${error.message}` }));
}
