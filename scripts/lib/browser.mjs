// Opens a page in headless Chromium, through the protocol of the developer tools. Import
// this file from a check of a page.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const types = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };

/// Serves the files of a folder.
async function serve(folder) {
  const server = createServer((request, response) => {
    const file = basename(new URL(request.url, 'http://localhost').pathname) || 'index.html';
    try {
      const body = readFileSync(join(folder, file));
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
  return server;
}

/// The page while it is checked.
class Tab {
  errors = [];
  /// What the page has logged, except errors.
  lines = [];

  #commands;
  #pending = new Map();
  #session;
  #last = 0;
  #rest = '';
  #loaded = () => {};
  #pictures;
  #figures;
  #minutes;

  constructor(commands, answers, { pictures, figures, minutes = 20 }) {
    this.#commands = commands;
    this.#pictures = pictures;
    this.#figures = figures;
    this.#minutes = minutes;
    // A browser that has ended is reported separately, in `visit`.
    commands.on('error', () => {});
    answers.setEncoding('utf8');
    answers.on('data', (chunk) => {
      // JSON, with a zero byte after each message.
      const messages = (this.#rest + chunk).split('\0');
      this.#rest = messages.pop();
      messages.forEach((message) => this.#receive(JSON.parse(message)));
    });
  }

  #receive({ id, method, params, result, error }) {
    if (id !== undefined) {
      const { resolve, reject } = this.#pending.get(id);
      this.#pending.delete(id);
      if (error) reject(new Error(error.message));
      else resolve(result);
    } else if (method === 'Page.loadEventFired') {
      this.#loaded();
    } else if (method === 'Runtime.consoleAPICalled') {
      const line = params.args.map((arg) => arg.value ?? arg.description).join(' ');
      (params.type === 'error' ? this.errors : this.lines).push(line);
    } else if (method === 'Runtime.exceptionThrown') {
      const { text, exception } = params.exceptionDetails;
      this.errors.push(`${text} ${exception?.description ?? ''}`);
    } else if (method === 'Log.entryAdded') {
      const line = `${params.entry.text} ${params.entry.url ?? ''}`;
      (params.entry.level === 'error' ? this.errors : this.lines).push(line);
    }
  }

  #call(method, params = {}) {
    const id = ++this.#last;
    const answer = new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    });
    const message = { id, method, params, sessionId: this.#session };
    this.#commands.write(`${JSON.stringify(message)}\0`);
    return answer;
  }

  /// `script` runs before those of the page.
  async open(address, { width, height, script = '' }) {
    const { targetId } = await this.#call('Target.createTarget', { url: 'about:blank' });
    const attached = await this.#call('Target.attachToTarget', { targetId, flatten: true });
    this.#session = attached.sessionId;
    for (const domain of ['Page', 'Runtime', 'Log']) await this.#call(`${domain}.enable`);
    await this.#call('Emulation.setDeviceMetricsOverride', {
      width, height, deviceScaleFactor: 1, mobile: false,
    });
    await this.#call('Page.addScriptToEvaluateOnNewDocument', { source: script });
    await this.#call('Page.navigate', { url: address });
  }

  /// Opens another page in the same tab, and waits until it has loaded.
  async go(address) {
    const loaded = new Promise((resolve) => {
      this.#loaded = resolve;
    });
    await this.#call('Page.navigate', { url: address });
    await Promise.race([loaded, sleep(60_000, undefined, { ref: false })
      .then(() => Promise.reject(new Error(`${address} does not load in a minute`)))]);
  }

  /// The size of the window, that of a phone or not, the theme, `light` or `dark`, and whether the user
  /// wants little motion.
  async look({ width, height, mobile = false, theme, isCalm = false }) {
    await this.#call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile });
    await this.#call('Emulation.setTouchEmulationEnabled', { enabled: mobile });
    await this.#call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: theme },
      { name: 'prefers-reduced-motion', value: isCalm ? 'reduce' : 'no-preference' }] });
  }

  /// Whether the pages that are opened from now on run their scripts.
  async runScripts(isOn) {
    await this.#call('Emulation.setScriptExecutionDisabled', { value: !isOn });
  }

  /// Moves the pointer to a place of the window.
  async move(x, y) {
    await this.#call('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y });
  }

  /// Clicks at a place of the window. Between the press and the release, calls `between`.
  async click(x, y, between = async () => {}) {
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.#call('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
      await between();
    }
  }

  /// Loads the page again, with what it has stored.
  async reload() {
    await this.#call('Page.reload');
  }

  /// To the browser, not to the page: it ends all its processes.
  close() {
    this.#session = undefined;
    this.#call('Browser.close').catch(() => {});
  }

  /// The value of an expression in the page.
  async evaluate(expression) {
    const { result } = await this.#call('Runtime.evaluate', { expression, returnByValue: true });
    return result.value;
  }

  /// The figures of the page, of which one is the number of the frame.
  async figures() {
    return (await this.evaluate(this.#figures)) ?? { frame: 0 };
  }

  /// Waits for so many further frames, however slow they are.
  async frames(count) {
    const until = (await this.figures()).frame + count;
    return this.until(({ frame }) => frame >= until);
  }

  /// Waits until a condition holds for the figures, as long as there are frames.
  async until(condition) {
    let now = await this.figures();
    // How many fifths of a second ago the last one came. This is for a page that hangs.
    for (let idle = 0; idle < 300 * this.#minutes; idle += 1) {
      if (this.errors.length > 0) throw new Error('the page prints errors');
      if (condition(now)) return now;
      await sleep(200);
      const before = now;
      now = await this.figures();
      if (now.frame > before.frame) idle = 0;
    }
    throw new Error(`no frame in ${this.#minutes} minutes: ${JSON.stringify(now)}`);
  }

  async picture(name) {
    const { data } = await this.#call('Page.captureScreenshot', { format: 'png' });
    writeFileSync(join(this.#pictures, `${name}.png`), Buffer.from(data, 'base64'));
  }

  /// Holds a key for at least so many frames.
  async press(key, code, held = 2) {
    for (const type of ['rawKeyDown', 'keyUp']) {
      await this.#call('Input.dispatchKeyEvent', {
        type, key, code: key, windowsVirtualKeyCode: code, nativeVirtualKeyCode: code,
      });
      // A key that goes down and up between two frames would not be seen.
      await this.frames(type === 'keyUp' ? 2 : held);
    }
  }
}

/// Opens the page of a folder, and calls `check` with its `Tab` and its address. The process fails
/// if that does, or if the page prints an error. `figures` is an expression: see `Tab.figures`.
/// `server` serves another way than file by file from one folder. `minutes` is how long a page may
/// stand still.
export async function visit({ chromium, page, query = '', server: given, ...options }, check) {
  const server = given ?? await serve(page);
  const address = `http://127.0.0.1:${server.address().port}/${query}`;
  const profile = mkdtempSync(join(tmpdir(), 'framestep-chromium-'));
  const browser = spawn(chromium, [
    '--headless', '--no-sandbox', '--disable-gpu', '--use-gl=angle',
    '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic',
    '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync', '--disable-dev-shm-usage', '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
  ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const [, , , commands, answers] = browser.stdio;
  const tab = new Tab(commands, answers, options);

  let failed = false;
  const gone = new Promise((_, reject) => {
    browser.once('exit', (status) => reject(new Error(`Chromium ended with ${status}`)));
  });
  try {
    await Promise.race([tab.open(address, options).then(() => check(tab, address)), gone]);
  } catch (error) {
    failed = true;
    console.error(error.message);
  }
  tab.errors.forEach((error) => console.error(`the page: ${error}`));
  gone.catch(() => {});
  if (browser.exitCode === null) {
    const ended = new Promise((end) => browser.once('close', end));
    tab.close();
    await Promise.race([ended, sleep(5_000, undefined, { ref: false })]);
    browser.kill('SIGKILL');
  }
  // Its other processes may write for a moment longer.
  rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  server.close();
  server.closeAllConnections();
  if (failed || tab.errors.length > 0) process.exitCode = 1;
}
