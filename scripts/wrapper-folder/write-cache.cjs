'use strict';
/*
 * Writes what V8 has compiled of a wrapper.cjs after one start of it, for svc-wrapper.cjs to read. The start goes to a
 * key server that this very process plays, so that every function that a start needs is in it.
 *
 * Usage: node write-cache.cjs FOLDER (with svc-wrapper.cjs, wrapper.cjs and ffi-rs.node), in an environment that is empty but for PATH
 */
const { writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const v8 = require('node:v8');
const vm = require('node:vm');

const [, , folder] = process.argv;
const filename = `${folder}/wrapper.cjs`;

/** The cache fits the very text that svc-wrapper.cjs compiles: its own script is kept. */
let script;
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    script = this;
  }
};

const answers = [
  [/\/login$/, { auth: { client_token: 's.warm-up', lease_duration: 3600, renewable: true } }],
  [/\/mounts\//, { data: { path: 'secret/', type: 'kv', options: { version: '2' } } }],
  [/\/data\//, { data: { data: { TEXT: 'a "quoted" \u00e9', NUMBER: 1 }, metadata: { version: 1 } } }],
];
/** The wrapper changes flags once its application runs; V8 refuses a cache that was written under other flags. */
v8.setFlagsFromString = () => undefined;

const settleMs = 300;

const server = createServer((request, response) => {
  const [, body] = answers.find(([path]) => path.test(request.url)) ?? [];
  const text = JSON.stringify(body ?? {});
  response.writeHead(body ? 200 : 404, { 'content-length': Buffer.byteLength(text) }).end(text);
  if (/\/data\//.test(request.url)) setTimeout(writeCache, settleMs);
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  Object.assign(process.env, {
    VAULT_ADDR: `http://127.0.0.1:${port}`,
    VAULT_AUTH_ROLE: 'warm-up',
    SVC_SA_TOKEN_PATH: filename.replace(/[^/]*$/, 'warm-up.jwt'),
    SVC_SECRET_PATHS: 'secret/warm-up',
    SVC_REQUIRE_MLOCK: 'false',
    SVC_LOG_LEVEL: 'error',
    HEALTH_ADDR: '127.0.0.1:0',
  });
  writeFileSync(process.env.SVC_SA_TOKEN_PATH, 'warm.up.jwt');
  process.argv = [process.execPath, filename, '--', 'sleep', '60'];
  require(`${folder}/svc-wrapper.cjs`);
});

/** The signal ends the application, and that the wrapper, which is this process. */
function writeCache() {
  writeFileSync(`${folder}/wrapper.cache`, script.createCachedData());
  process.kill(process.pid, 'SIGTERM');
}
