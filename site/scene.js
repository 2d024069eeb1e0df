// A page of the gallery: a game in a frame, and beside it its code, in which the lines that wait
// now are marked.

const stage = document.querySelector('.stage');
const panes = new Map();
for (const pane of document.querySelectorAll('.panes [data-file]')) panes.set(pane.dataset.file, pane);
const tabs = new Map();
for (const tab of document.querySelectorAll('.files button')) tabs.set(tab.dataset.file, tab);
const choice = document.querySelector('#followed');
const figures = document.querySelector('#figures');

let frame;
let began;
let shown = tabs.keys().next().value;
let marked = new Map();
let reported = new Map();

function show(file) {
  shown = file;
  for (const [name, pane] of panes) pane.hidden = name !== file;
  for (const [name, tab] of tabs) tab.setAttribute('aria-selected', name === file);
}

for (const [file, tab] of tabs) {
  tab.addEventListener('click', () => {
    // The marks of that file are followed.
    choice.value = 'file';
    show(file);
    revealFirst();
  });
}
choice.addEventListener('change', () => follow(reported));

function isInView(line) {
  const pane = line.closest('pre');
  const at = line.offsetTop - pane.offsetTop;
  return at >= pane.scrollTop + 30 && at <= pane.scrollTop + pane.clientHeight - 60;
}

/// Scrolls the pane, not the page.
function reveal(line) {
  const pane = line.closest('pre');
  if (!isInView(line)) pane.scrollTo({ top: line.offsetTop - pane.offsetTop - pane.clientHeight / 3, behavior: 'instant' });
}

/// Scrolls to a marked line of the file that is shown, unless one is in view.
function revealFirst() {
  const lines = [...marked].filter(([place]) => place.startsWith(`${shown} `)).map(([, line]) => line);
  if (lines.length > 0 && !lines.some(isInView)) reveal(lines[0]);
}

/// Marks the lines of a report: in each row of text a file, a line, a count and a name.
function mark(text) {
  const now = new Map();
  const counts = new Map();
  const names = new Set();
  for (const row of text.split('\n')) {
    const match = /^(\S+) (\d+) (\d+) (.*)$/.exec(row);
    if (!match) continue;
    const [, file, line, count, name] = match;
    names.add(name);
    if (!panes.has(file)) continue;
    counts.set(file, (counts.get(file) ?? 0) + Number(count));
    const place = `${file} ${line}`;
    const who = now.get(place) ?? [];
    who.push([name, Number(count)]);
    now.set(place, who);
  }
  const lineOf = (place) => {
    const [file, line] = place.split(' ');
    return panes.get(file).querySelector(`[id$="L${line}"]`);
  };
  for (const [place, line] of marked) {
    if (now.has(place)) continue;
    line.classList.remove('waits');
    line.classList.add('left');
    delete line.dataset.who;
    line.addEventListener('animationend', () => line.classList.remove('left'), { once: true });
  }
  const before = marked;
  marked = new Map();
  for (const [place, who] of now) {
    const line = before.get(place) ?? lineOf(place);
    if (!line) continue;
    marked.set(place, line);
    line.classList.add('waits');
    const words = who.slice(0, 3).map(([name, count]) => (count > 1 ? `${name} ×${count}` : name));
    if (who.length > 3) words.push('..');
    line.dataset.who = words.join(', ');
  }
  for (const [file, tab] of tabs) tab.querySelector('small').textContent = counts.get(file) ?? '';
  offer(names);
  reported = now;
  follow(now);
  document.body.dataset.reports = Number(document.body.dataset.reports ?? 0) + 1;
  document.body.dataset.waits = marked.size;
}

/// Lists the scripts that can be followed. A name that has been there once stays.
function offer(names) {
  for (const name of [...names].sort()) {
    if ([...choice.options].some(({ value }) => value === name)) continue;
    choice.add(new Option(name, name));
  }
}

/// Shows where the chosen script waits: for the story, the first of those that the page names.
function follow(now) {
  const wanted = choice.value;
  if (wanted === 'nothing') return;
  if (wanted === 'file') {
    revealFirst();
    return;
  }
  const candidates = wanted === 'story' ? JSON.parse(stage.dataset.follow) : [wanted];
  for (const candidate of candidates) {
    for (const [place, who] of now) {
      if (!who.some(([name]) => name === candidate) || !marked.has(place)) continue;
      const [file] = place.split(' ');
      if (file !== shown) show(file);
      reveal(marked.get(place));
      return;
    }
  }
}

function start() {
  if (frame) return;
  began = performance.now();
  frame = document.createElement('iframe');
  frame.title = stage.dataset.title;
  frame.src = stage.dataset.play;
  frame.addEventListener('load', () => frame.contentWindow.focus());
  stage.append(frame);
  stage.querySelector('.start').remove();
}

stage.querySelector('.start').addEventListener('click', start);

addEventListener('message', ({ source, data }) => {
  if (!frame || source !== frame.contentWindow) return;
  if (typeof data?.lines === 'string') mark(data.lines);
  if (data?.began) {
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    figures.textContent = `The first frame came after ${seconds} s, here and now.`;
    document.body.dataset.began = seconds;
    target()?.focus();
  }
});

const target = () => frame?.contentDocument?.querySelector('canvas');

/// Sends a key to the game, as a keyboard would.
function send(type, code) {
  const key = { Space: ' ', ShiftLeft: 'Shift' }[code] ?? code.replace(/^Key/, '').replace(/^(?=[A-Z]$)/, '');
  const canvas = target();
  if (!canvas) return;
  const { KeyboardEvent } = frame.contentWindow;
  canvas.dispatchEvent(new KeyboardEvent(type, {
    code, key: key.length === 1 ? key.toLowerCase() : key, bubbles: true, cancelable: true,
  }));
}

for (const button of document.querySelectorAll('.keys button')) {
  const { code } = button.dataset;
  let isDown = false;
  const down = (event) => {
    event.preventDefault();
    if (isDown) return;
    isDown = true;
    button.classList.add('down');
    start();
    send('keydown', code);
  };
  const up = () => {
    if (!isDown) return;
    isDown = false;
    button.classList.remove('down');
    send('keyup', code);
  };
  button.addEventListener('pointerdown', (event) => {
    // Until it is let go, even if the finger slips off.
    button.setPointerCapture(event.pointerId);
    down(event);
  });
  for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) button.addEventListener(end, up);
  button.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') down(event);
  });
  button.addEventListener('keyup', up);
  button.addEventListener('blur', up);
  button.addEventListener('contextmenu', (event) => event.preventDefault());
}

show(shown);
