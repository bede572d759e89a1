import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const dumping = suite('the rule of the machine on what may be dumped');
/** Of the whole machine: no other test runs meanwhile. */
const rule = '/proc/sys/fs/suid_dumpable';
/** Of its exit status. */
const cannotStart = 1;
const init = fileURLToPath(new URL(`../../../../dist/init/${process.arch}/svc-init`, import.meta.url));

dumping('workers are unreadable where only root may read what its user cannot; not where anybody may', () => {
  const before = readFileSync(rule, 'latin1');
  const tried = [0, 1, 2].map((value) => {
    writeFileSync(rule, String(value));
    try {
      return Number(spawnSync(init).status) & cannotStart;
    } finally {
      writeFileSync(rule, before);
    }
  });
  assert.equal(tried, [0, 1, 0]);
});

dumping.run();
