'use strict';
/*
 * Runs svc-wrapper.cjs beside it as a wrapper or as one of its workers, and writes the cache of what was compiled when
 * it becomes svc-init or ends, or, of a worker that stays, once its application runs.
 */
const { createHash } = require('node:crypto');
const { renameSync, writeFileSync } = require('node:fs');
const v8 = require('node:v8');
const vm = require('node:vm');

const role = process.argv[2] ?? '';
const stays = role.startsWith('--svc-worker=resident');
const isWorker = role.startsWith('--svc-worker=') && !stays;
const cache = `${__dirname}/${isWorker ? 'worker' : 'wrapper'}.cache`;
const nothing = () => undefined;
const last = {
  // before a worker that stays there is little of a start
  execve: process.env.SVC_RESIDENT === 'true' ? nothing : write,
  sendmsg: stays ? later : nothing,
  _exit: isWorker ? write : nothing,
};

let timer;
function later() {
  clearTimeout(timer);
  timer = setTimeout(write, 300);
}

/** The cache fits the very text that svc-wrapper.cjs compiles: its own script is kept. */
let script;
let text;
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    script = this;
    text = source;
  }
};

/** The wrapper changes flags once its application runs; V8 refuses a cache that was written under other flags. */
v8.setFlagsFromString = () => undefined;

const { dlopen } = process;
process.dlopen = (module, path) => {
  dlopen.call(process, module, path);
  const { load } = module.exports;
  module.exports = {
    ...module.exports,
    load: (call) => {
      last[call.funcName]?.();
      return load(call);
    },
  };
};

require(`${__dirname}/svc-wrapper.cjs`);

/** Whoever sees the file sees all of it. */
function write() {
  const compiled = script.createCachedData();
  const digest = createHash('sha256').update(text, 'latin1').update(compiled).digest();
  writeFileSync(`${cache}.new`, Buffer.concat([digest, compiled]));
  renameSync(`${cache}.new`, cache);
}
