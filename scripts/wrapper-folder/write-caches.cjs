'use strict';
/*
 * Writes what V8 has compiled of a wrapper.cjs after one start of it and one pass of a worker, for svc-wrapper.cjs to
 * read: wrapper.cache and, where svc-init can start workers, worker.cache. They ask a key server that this very process
 * plays, so that most functions that they need are in it; those for TLS are Node's own.
 *
 * Usage: node write-caches.cjs FOLDER (with svc-wrapper.cjs, wrapper.cjs, warm-up.cjs, ffi-rs.node and svc-init), in an
 * environment that is empty but for PATH
 */
const { spawn, spawnSync } = require('node:child_process');
const { existsSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:http');

const [, , folder] = process.argv;
/** Without arguments it says whether it could: bit 0 is set where it could not. */
const leaves = [0, 2].includes(spawnSync(`${folder}/svc-init`).status);
const token = `${folder}/warm-up.jwt`;
const lookEveryMs = 50;

const lease = { lease_duration: 3600, renewable: true };
const responses = [
  [/\/login$/, { auth: { client_token: 's.warm-up', ...lease } }],
  [/\/renew-self$/, { auth: { client_token: 's.warm-up', ...lease } }],
  [/\/mounts\//, { data: { path: 'secret/', type: 'kv', options: { version: '2' } } }],
  [/\/data\//, { data: { data: { TEXT: 'a "quoted" \u00e9', NUMBER: 1 }, metadata: { version: 1 } } }],
];

const server = createServer((request, response) => {
  const [, body] = responses.find(([path]) => path.test(request.url)) ?? [];
  const text = JSON.stringify(body ?? {});
  response.writeHead(body ? 200 : 404, { 'content-length': Buffer.byteLength(text) }).end(text);
});

server.listen(0, '127.0.0.1', () => {
  writeFileSync(token, 'warm.up.jwt');
  const env = {
    PATH: process.env.PATH,
    VAULT_ADDR: `http://127.0.0.1:${server.address().port}`,
    VAULT_AUTH_ROLE: 'warm-up',
    SVC_SA_TOKEN_PATH: token,
    SVC_SECRET_PATHS: 'secret/warm-up',
    SVC_REQUIRE_MLOCK: 'false',
    SVC_LOG_LEVEL: 'warn',
    SVC_ROTATION: 'restart',
    SVC_RESIDENT: String(!leaves),
    RENEWAL_INTERVAL: '1s',
    HEALTH_ADDR: '127.0.0.1:0',
  };
  const args = [`${folder}/warm-up.cjs`, '--', 'sleep', '60'];
  const wrapper = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  wrapper.on('exit', () => process.exit());
  setInterval(() => {
    if (existsSync(`${folder}/${leaves ? 'worker' : 'wrapper'}.cache`)) wrapper.kill('SIGTERM');
  }, lookEveryMs);
});
