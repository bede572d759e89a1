'use strict';
/*
 * Runs wrapper.cjs beside it. What V8 has compiled of it spares Node 8 ms of a start where it is there and fits:
 * wrapper.cache for a wrapper and for a worker that stays, worker.cache for other workers. Each begins with a digest of the
 * text and of itself: V8 looks at the text's length alone, and damage ends it.
 */
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { Script } = require('node:vm');

const filename = `${__dirname}/wrapper.cjs`;
const source = `(function (require, module, __filename, __dirname) {${readFileSync(filename, 'latin1')}\n})`;
new Script(source, { filename, cachedData: cache() }).runInThisContext()(
  require,
  module,
  filename,
  __dirname,
);

function cache() {
  try {
    const isWorker = /^--svc-worker=(?!resident)/.test(process.argv[2]);
    const kept = readFileSync(`${__dirname}/${isWorker ? 'worker' : 'wrapper'}.cache`);
    const compiled = kept.subarray(32);
    const digest = createHash('sha256').update(source, 'latin1').update(compiled).digest();
    return digest.equals(kept.subarray(0, 32)) ? compiled : undefined;
  } catch {
    return undefined;
  }
}
