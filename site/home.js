// The first page: goes through the frames of a run that was recorded when the site was built.

const frames = JSON.parse(document.querySelector('#run').textContent);
const output = document.querySelector('.output');
const list = document.querySelector('.frames');
const pane = document.querySelector('pre.code');
const lines = [...pane.querySelectorAll('.line')];
const calm = matchMedia('(prefers-reduced-motion: reduce)');
let current = 0;
let timer;

function show(index) {
  current = index;
  const { printed, waits } = frames[index];
  for (const line of lines) {
    line.classList.remove('waits');
    delete line.dataset.who;
  }
  for (const { line, name, wait } of waits) {
    const row = lines[line - Number(pane.dataset.first)];
    row.classList.add('waits');
    row.dataset.who = `${name}: ${wait}`;
  }
  output.replaceChildren();
  for (const [place, frame] of frames.slice(0, index + 1).entries()) {
    for (const words of frame.printed) {
      const row = document.createElement('div');
      row.textContent = `frame ${place}: ${words}`;
      row.className = place === index ? 'now' : '';
      output.append(row);
    }
  }
  if (waits.length === 0 && printed.length > 0) output.append(Object.assign(document.createElement('div'), {
    textContent: 'Both scripts have ended.', className: 'now',
  }));
  for (const [place, button] of [...list.querySelectorAll('button')].entries()) {
    button.toggleAttribute('aria-current', place === index);
  }
}

function stop() {
  clearInterval(timer);
  timer = undefined;
}

for (const [index] of frames.entries()) {
  const item = document.createElement('li');
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: index });
  button.setAttribute('aria-label', `frame ${index}`);
  button.addEventListener('click', () => {
    stop();
    show(index);
  });
  item.append(button);
  list.append(item);
}

show(0);
if (!calm.matches) timer = setInterval(() => show((current + 1) % frames.length), 1100);
document.querySelector('#first').addEventListener('focusin', stop);
