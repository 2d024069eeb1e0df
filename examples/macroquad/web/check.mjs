// Opens the page in headless Chromium: frames continue, even behind the pause menu,
// and no error is printed. Takes pictures.
//
// node check.mjs CHROMIUM PAGE PICTURES: the last two are folders.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [chromium, page, pictures] = process.argv.slice(2);

const types = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };

const server = createServer((request, response) => {
  const file = basename(new URL(request.url, 'http://localhost').pathname) || 'index.html';
  try {
    const body = readFileSync(join(page, file));
    response.writeHead(200, {
      'Content-Type': types[extname(file)] ?? 'application/octet-stream',
      // With these two, performance.now() is exact to 5 microseconds.
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
    });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const address = `http://127.0.0.1:${server.address().port}/`;

const profile = mkdtempSync(join(tmpdir(), 'framestep-chromium-'));
const browser = spawn(chromium, [
  '--headless', '--no-sandbox', '--disable-gpu', '--use-gl=angle',
  '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic',
  '--no-first-run', '--disable-background-networking', '--disable-component-update',
  '--disable-sync', '--disable-dev-shm-usage', '--remote-debugging-pipe',
  `--user-data-dir=${profile}`,
], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
const [, , , commands, answers] = browser.stdio;

// The protocol of the developer tools: JSON, with a zero byte after each message.
const pending = new Map();
const errors = [];
let session;
let last = 0;
let rest = '';

// A browser that has ended is a separate error, below.
commands.on('error', () => {});
answers.setEncoding('utf8');
answers.on('data', (chunk) => {
  const messages = (rest + chunk).split('\0');
  rest = messages.pop();
  messages.map((message) => JSON.parse(message)).forEach(receive);
});

function receive({ id, method, params, result, error }) {
  if (id !== undefined) {
    const { resolve, reject } = pending.get(id);
    pending.delete(id);
    if (error) reject(new Error(error.message));
    else resolve(result);
  } else if (method === 'Runtime.consoleAPICalled' && params.type === 'error') {
    errors.push(params.args.map((arg) => arg.value ?? arg.description).join(' '));
  } else if (method === 'Runtime.exceptionThrown') {
    const { text, exception } = params.exceptionDetails;
    errors.push(`${text} ${exception?.description ?? ''}`);
  } else if (method === 'Log.entryAdded' && params.entry.level === 'error') {
    errors.push(`${params.entry.text} ${params.entry.url ?? ''}`);
  }
}

function call(method, params = {}) {
  const id = ++last;
  const answer = new Promise((resolve, reject) => pending.set(id, { resolve, reject }));
  commands.write(`${JSON.stringify({ id, method, params, sessionId: session })}\0`);
  return answer;
}

async function figures() {
  const expression = 'window.framestep';
  const { result } = await call('Runtime.evaluate', { expression, returnByValue: true });
  return result.value ?? { frame: 0 };
}

/// Waits for so many further frames, however slow they are.
async function frames(count) {
  let now = await figures();
  const until = now.frame + count;
  // How many seconds ago the last one came. This is for a page that hangs.
  for (let idle = 0; idle < 1_200; idle += 1) {
    if (errors.length > 0) throw new Error('the page prints errors');
    if (now.frame >= until) return now;
    await sleep(1_000);
    const before = now;
    now = await figures();
    if (now.frame > before.frame) idle = 0;
  }
  throw new Error(`no frame in twenty minutes: ${JSON.stringify(now)}`);
}

async function picture(name) {
  const { data } = await call('Page.captureScreenshot', { format: 'png' });
  writeFileSync(join(pictures, `${name}.png`), Buffer.from(data, 'base64'));
}

async function press(key, code) {
  for (const type of ['rawKeyDown', 'keyUp']) {
    await call('Input.dispatchKeyEvent', {
      type, key, code: key, windowsVirtualKeyCode: code, nativeVirtualKeyCode: code,
    });
    // A key that goes down and up between two frames would not be seen.
    await frames(2);
  }
}

async function check() {
  const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
  ({ sessionId: session } = await call('Target.attachToTarget', { targetId, flatten: true }));
  for (const domain of ['Page', 'Runtime', 'Log']) await call(`${domain}.enable`);
  await call('Emulation.setDeviceMetricsOverride', {
    width: 960, height: 540, deviceScaleFactor: 1, mobile: false,
  });
  await call('Page.navigate', { url: address });

  await frames(60);
  await picture('web-dialogue');
  const began = Date.now();
  const first = await figures();
  let now = first;
  // At that frame, the pilot has let the first enemies in, however slow the machine
  // is.
  while (now.frame < first.frame + 600 || Date.now() - began < 14_000) now = await frames(60);
  await picture('web-wave');
  const rate = (1_000 * (now.frame - first.frame)) / (Date.now() - began);

  await press('Escape', 27);
  await frames(40);
  await picture('web-menu');
  const paused = await frames(30);
  if (paused.frame <= now.frame) throw new Error('no frames behind the menu');
  await press('Enter', 13);
  await frames(60);
  await press('F1', 112);
  await picture('web-no-overlay');
  console.log(`${paused.frame} frames in the browser, ${rate.toFixed(0)} a second: `
    + `${now.coroutines} coroutines take ${now.milliseconds.toFixed(2)} ms a frame`);
}

let failed = false;
const gone = new Promise((_, reject) => {
  browser.once('exit', (status) => reject(new Error(`Chromium ended with ${status}`)));
});
try {
  await Promise.race([check(), gone]);
} catch (error) {
  failed = true;
  console.error(error.message);
}
errors.forEach((error) => console.error(`the page: ${error}`));
gone.catch(() => {});
if (browser.exitCode === null) {
  const ended = new Promise((end) => browser.once('close', end));
  // To the browser, not to the page: it ends all its processes.
  session = undefined;
  call('Browser.close').catch(() => {});
  await Promise.race([ended, sleep(5_000, undefined, { ref: false })]);
  browser.kill('SIGKILL');
}
// Its other processes may write for a moment longer.
rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
server.close();
server.closeAllConnections();
process.exitCode = failed || errors.length > 0 ? 1 : 0;
