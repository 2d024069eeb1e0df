// A registry on this machine, for scripts/release/rehearse: takes packages as crates.io does, and
// shows them to cargo. It listens on the loopback only, and ends with its standard input.
//
// node registry.mjs FOLDER [FAILS] [LIMITED]: keeps the packages in a folder. The first upload of
// the package FAILS is answered with an error of the server, that of LIMITED with a request to wait.
// Prints its port, and then a line for each upload.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const [folder, fails, limited] = process.argv.slice(2);
const token = 'rehearsal';
mkdirSync(folder, { recursive: true });
const index = new Map();
const answered = new Set();

/// Where an index has a package.
function place(name) {
  const prefix = name.length < 4 ? [String(name.length), ...(name.length === 3 ? [name[0]] : [])] : [name.slice(0, 2), name.slice(2, 4)];
  return [...prefix, name].join('/').toLowerCase();
}

/// As in the documents of cargo: the length of the description, the description, the length of the
/// package, the package.
function upload(body) {
  const size = body.readUInt32LE(0);
  const about = JSON.parse(body.subarray(4, 4 + size));
  const package_ = body.subarray(8 + size, 8 + size + body.readUInt32LE(4 + size));
  const { name, vers, deps, features, links = null, rust_version = null } = about;
  const failure = (status, words) => [status, { errors: [{ detail: words }] }];
  for (const [planned, status, words] of [[fails, 503, 'the registry is not available'],
    [limited, 429, 'You have published too many new crates in a short period of time. Please try again later.']]) {
    if (name === planned && !answered.has(name)) {
      answered.add(name);
      console.log(`refused ${name} ${vers}: ${status}`);
      return failure(status, words);
    }
  }
  const versions = index.get(place(name)) ?? [];
  if (versions.some((version) => version.vers === vers)) return failure(400, `crate version ${vers} is already uploaded`);
  for (const key of ['description', 'license', 'repository', 'readme']) {
    if (!about[key]) return failure(400, `missing or empty metadata field: ${key}`);
  }
  for (const { name: needed, registry } of deps) {
    if (registry === null && !index.has(place(needed))) return failure(400, `${name} needs ${needed}, which is not in this registry`);
  }
  index.set(place(name), [...versions, {
    name, vers, features: {}, features2: features, links, rust_version, yanked: false, v: 2,
    cksum: createHash('sha256').update(package_).digest('hex'),
    deps: deps.map(({ version_req, explicit_name_in_toml, ...rest }) => ({
      ...rest, req: version_req, name: explicit_name_in_toml ?? rest.name, package: explicit_name_in_toml ? rest.name : null,
    })),
  }]);
  writeFileSync(join(folder, `${name}-${vers}.crate`), package_);
  console.log(`uploaded ${name} ${vers}: ${package_.length} bytes`);
  return [200, { warnings: { invalid_categories: [], invalid_badges: [], other: [] } }];
}

const server = createServer(async (request, response) => {
  const answer = (status, body) => response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  const { pathname } = new URL(request.url, 'http://localhost');
  const root = `http://127.0.0.1:${server.address().port}`;
  if (pathname === '/index/config.json') {
    answer(200, JSON.stringify({ dl: `${root}/packages/{crate}-{version}.crate`, api: root }));
  } else if (pathname.startsWith('/index/')) {
    const versions = index.get(pathname.slice('/index/'.length));
    answer(versions ? 200 : 404, versions?.map((version) => JSON.stringify(version)).join('\n') ?? '');
  } else if (pathname.startsWith('/packages/')) {
    const file = join(folder, pathname.split('/').at(-1));
    if (existsSync(file)) answer(200, readFileSync(file));
    else answer(404, '');
  } else if (request.method === 'PUT' && pathname === '/api/v1/crates/new') {
    const parts = [];
    for await (const part of request) parts.push(part);
    const [status, body] = request.headers.authorization === token ? upload(Buffer.concat(parts))
      : [403, { errors: [{ detail: 'this is not the token' }] }];
    answer(status, JSON.stringify(body));
  } else {
    answer(404, '{}');
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
