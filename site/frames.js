// Goes through the frames of runs that were recorded when the site was built: site/frames. The page
// has the code of each script, and may have a list of scripts, lanes, and what happens in a frame.

import { escape } from './highlight.js';

const root = document.querySelector('#frames');
const find = (query) => root.querySelector(query);
const { first, runs } = JSON.parse(document.querySelector('#runs').textContent);
const [choice, length] = [find('#script'), find('#length')];
const [slider, place, play] = [find('#frame'), find('#place'), find('#play')];
const [names, lanes, events, output, scene] = [find('.names'), find('.lanes'), find('.events'), find('.output'), find('.scene')];
const [notes, panes] = [find('.notes'), [...root.querySelectorAll('[data-script]')]];

let film;
let current = 0;
let timer;

// -- The run ----------------------------------------------------------------------------------

/// The run of a script in frames of a length. Those of the first length are in the page.
async function load(name, unit = 'quarter') {
  const key = `${name}-${unit}`;
  runs[key] ??= await (await fetch(`../frames/${key}.json`)).json();
  film = runs[key];
  for (const pane of panes) pane.hidden = pane.dataset.script !== name;
  if (choice) choice.value = name;
  slider.max = film.frames.length - 1;
  if (lanes) drawLanes();
  say();
  show(0);
}

/// After the last frame: which scripts wait, and whether anything will resume them. Before it, that
/// would be the answer to what the run asks.
function say() {
  if (!notes) return;
  const { waits } = film.frames.at(-1);
  const isOver = waits.every(({ kind }) => ['event', 'end', 'never'].includes(kind));
  const words = waits.map(({ script, lines, words: what }) => `${film.scripts[script].name} waits at line ${lines.join(' and ')} for ${what}`);
  notes.classList.toggle('stuck', film.goesOn && isOver);
  notes.textContent = !film.goesOn ? 'All scripts end.' : isOver ? `Nothing will resume what is left: ${words.join('; ')}.`
    : `Recorded up to frame ${film.frames.length - 1}; ${waits.length === 1 ? 'a script goes on' : `${waits.length} scripts go on`}.`;
}

// -- A frame ----------------------------------------------------------------------------------

function mark() {
  const pane = panes.find(({ hidden }) => !hidden);
  const who = new Map();
  for (const { script, lines } of film.frames[current].waits) {
    for (const line of lines) who.set(line, [...(who.get(line) ?? []), film.scripts[script].name]);
  }
  for (const [index, line] of [...pane.querySelectorAll('.line')].entries()) {
    const waiting = who.get(index + 1);
    line.classList.toggle('waits', waiting !== undefined);
    if (waiting) line.dataset.who = [...new Set(waiting)].join(', ');
    else delete line.dataset.who;
  }
}

function show(frame) {
  current = frame;
  mark();
  const { time, events: happened, world } = film.frames[frame];
  slider.value = frame;
  slider.setAttribute('aria-valuetext', `frame ${frame}, ${time.toFixed(2)} s`);
  place.textContent = `frame ${frame} of ${film.frames.length - 1}, ${time.toFixed(2)} s`;
  output.replaceChildren();
  for (const [number, { printed }] of film.frames.slice(0, frame + 1).entries()) {
    for (const text of printed) {
      output.append(Object.assign(document.createElement('div'), {
        className: number === frame ? 'now' : '', textContent: `${String(number).padStart(3)}  ${text}`,
      }));
    }
  }
  if (output.childElementCount === 0) output.textContent = 'nothing printed yet';
  output.scrollTop = output.scrollHeight;
  drawScene(world);
  root.dataset.shown = frame;
  // Its place stays, so that nothing moves.
  if (notes) notes.style.visibility = frame === film.frames.length - 1 ? 'visible' : 'hidden';
  if (!lanes) return;
  lanes.querySelector('.now').setAttribute('x', frame * width);
  const left = frame * width;
  if (left < lanes.scrollLeft + width || left > lanes.scrollLeft + lanes.clientWidth - 3 * width) {
    lanes.scrollLeft = left - lanes.clientWidth / 3;
  }
  events.replaceChildren(...happened.map(describe));
  if (happened.length === 0) events.append(Object.assign(document.createElement('li'), { textContent: 'no script is due' }));
}

function describe({ script, phase, what, of }) {
  const item = document.createElement('li');
  const words = { began: 'is started', polled: 'is polled', finished: 'returns', stopped: 'is stopped', panicked: 'panics',
    emitted: `emits ${of}`, paused: 'is paused', resumed: 'is resumed' }[what];
  item.append(`${script === null ? 'the host' : film.scripts[script].name} ${words}`);
  if (phase && what === 'polled') item.append(Object.assign(document.createElement('small'), { textContent: ` in ${phase}` }));
  return item;
}

function drawScene({ hero, door, lamp, coins }) {
  scene.querySelector('.hero').setAttribute('transform', `translate(${(14 + hero * 9.2).toFixed(2)}, 0)`);
  scene.querySelector('.leaf').setAttribute('height', (20 * (1 - door)).toFixed(2));
  scene.querySelector('.glow').setAttribute('opacity', lamp.toFixed(3));
  scene.querySelector('.coins').textContent = `${coins} ${coins === 1 ? 'coin' : 'coins'}`;
}

// -- Lanes ------------------------------------------------------------------------------------

const height = 28;
let width = 22;
const letter = { Update: '', EarlyUpdate: 'E', FixedUpdate: 'F', LateUpdate: 'L', EndOfFrame: 'Z' };

function drawLanes() {
  const { scripts, frames } = film;
  width = frames.length > 120 ? 12 : 22;
  names.replaceChildren(...scripts.map(({ name }) => Object.assign(document.createElement('div'), { textContent: name, title: name })));
  const parts = [];
  const total = frames.length * width;
  parts.push(`<rect class="now" y="0" width="${width}" height="${(scripts.length + 1) * height}"/>`);
  const every = width < 20 ? 10 : 5;
  for (let frame = 0; frame < frames.length; frame += every) {
    parts.push(`<text class="number" x="${frame * width + width / 2}" y="18">${frame}</text>`);
  }
  for (const [number, script] of scripts.entries()) {
    const y = (number + 1) * height;
    parts.push(`<line class="lane" x1="0" x2="${total}" y1="${y}" y2="${y}"/>`);
    for (let frame = script.began; frame <= (script.ended ?? frames.length - 1); frame += 1) {
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
  lanes.innerHTML = `<svg width="${total}" height="${(scripts.length + 1) * height}" role="img" aria-label="Scripts by frame">${parts.join('')}</svg>`;
}

let isDragging = false;
function pick(event) {
  const box = lanes.querySelector('svg').getBoundingClientRect();
  step(Math.floor((event.clientX - box.left) / width) - current);
}
lanes?.addEventListener('pointerdown', (event) => {
  isDragging = event.pointerType === 'mouse';
  pick(event);
});
lanes?.addEventListener('pointermove', (event) => {
  if (isDragging) pick(event);
});
addEventListener('pointerup', () => {
  isDragging = false;
});

// -- Time -------------------------------------------------------------------------------------

function stop() {
  clearInterval(timer);
  timer = undefined;
  play.textContent = 'Play';
}
function go() {
  stop();
  if (current >= film.frames.length - 1) show(0);
  play.textContent = 'Pause';
  const dt = film.frames[1].time - film.frames[0].time;
  timer = setInterval(() => {
    if (current < film.frames.length - 1) show(current + 1);
    // The first page begins again.
    else if (lanes) stop();
    else show(0);
  }, Math.max(80, Math.min(lanes ? 300 : 650, 2400 * dt)));
}
play.addEventListener('click', () => (timer ? stop() : go()));
function step(by) {
  stop();
  show(Math.max(0, Math.min(film.frames.length - 1, current + by)));
}
find('#back').addEventListener('click', () => step(-1));
find('#on').addEventListener('click', () => step(1));
slider.addEventListener('input', () => step(Number(slider.value) - current));
lanes?.addEventListener('keydown', ({ key }) => {
  if (key === 'ArrowLeft') step(-1);
  if (key === 'ArrowRight') step(1);
});

async function change() {
  stop();
  await load(choice.value, length.value);
  document.body.dataset.changes = Number(document.body.dataset.changes ?? 0) + 1;
}
length?.addEventListener('change', change);
choice?.addEventListener('change', () => {
  history.replaceState(null, '', `#${choice.value}`);
  change();
});

/// The script that the address names.
const named = () => {
  const name = location.hash.slice(1);
  return choice && panes.some(({ dataset }) => dataset.script === name) ? name : first;
};
if (choice) {
  addEventListener('hashchange', () => {
    choice.value = named();
    change();
  });
}

for (const each of root.querySelectorAll('[data-live]')) each.hidden = false;
await load(named());
document.body.dataset.began = 'yes';
if (!matchMedia('(prefers-reduced-motion: reduce)').matches) go();
