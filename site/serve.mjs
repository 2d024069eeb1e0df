// Serves a folder on this machine: node serve.mjs FOLDER PORT.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';

const types = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
  '.svg': 'image/svg+xml', '.png': 'image/png', '.webp': 'image/webp', '.wasm': 'application/wasm', '.woff2': 'font/woff2',
};

/// Listens on the loopback only. For an address without a page, it shows the site's own page about that.
export async function serve(folder, port = 0) {
  const server = createServer((request, response) => {
    let path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    try {
      if (statSync(join(folder, path)).isDirectory()) path = join(path, 'index.html');
      const body = readFileSync(join(folder, path));
      response.writeHead(200, { 'Content-Type': types[extname(path)] ?? 'application/octet-stream' });
      response.end(body);
    } catch {
      const missing = join(folder, '404.html');
      response.writeHead(404, { 'Content-Type': types['.html'] }).end(existsSync(missing) ? readFileSync(missing) : 'no such page');
    }
  });
  await new Promise((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', listening);
  });
  return server;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, port] = process.argv.slice(2);
  await serve(folder, Number(port)).catch((error) => {
    console.error(`cannot serve on port ${port}: ${error.message}`);
    process.exitCode = 1;
  });
}
