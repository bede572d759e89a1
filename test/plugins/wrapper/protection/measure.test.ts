import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  dumpableByOwner,
  lockProtection,
  measureApplicationProtection,
  measureOwnProtection,
  parseMappedMemory,
} from '../../../../src/plugins/wrapper/agent/report.ts';
import { softLimit, statusBytes, statusField } from '../../../../src/runtime/native/process-status.ts';
import { createSecretMemory } from '../../../../src/runtime/native/secret-memory.ts';
import { bundledProgram } from '../../../support/bundled-program.ts';

const FIXTURE = bundledProgram(new URL('fixtures/measure.ts', import.meta.url));
const isRoot = process.getuid?.() === 0;
const ORDINARY = [
  '--reuid',
  '65534',
  '--regid',
  '65534',
  '--clear-groups',
  '--bounding-set=-all',
  '--inh-caps=-all',
];

/** Runs the fixture, as an ordinary user when a memory-lock limit is given. */
function measured(words: readonly string[], memlock?: string) {
  const own = [process.execPath, '--no-warnings', FIXTURE, ...words];
  const asUser = isRoot ? ['setpriv', ...ORDINARY] : [];
  const limited = memlock === undefined ? [] : ['prlimit', `--memlock=${memlock}:${memlock}`, ...asUser];
  const [command = '', ...args] = [...limited, ...own];
  return JSON.parse(execFileSync(command, args, { encoding: 'utf8', cwd: '/' }));
}

const protection = suite('protection in force');

protection('as an ordinary user that is not dumpable everything can still be measured', () => {
  const { wrapper, secretMemory, application, childPid } = measured(
    ['undumpable', 'core', 'secret'],
    '8388608',
  );
  assert.is(wrapper.dumpable, false);
  assert.is(wrapper.coreLimitBytes, 1);
  assert.is(wrapper.lockLimitBytes, 8_388_608);
  assert.is(wrapper.ipcLock, false);
  assert.is(wrapper.lockMode, 'none');
  assert.ok(wrapper.unlockedBytes > 1_000_000);
  assert.equal(secretMemory, { kind: 'memfd_secret', bytes: 10_100, locked: true, undumped: true });
  assert.equal(application, {
    ...{ pid: childPid, lockedBytes: 0, swappedBytes: 0, coreLimitBytes: 1, dumpable: true },
  });
});

protection('a partial lock is called partial', () => {
  const { wrapper, claimed } = measured(['lock'], '8388608');
  assert.is(claimed, 'partial');
  assert.is(wrapper.lockMode, 'partial');
  assert.ok(wrapper.lockedBytes > 0 && wrapper.unlockedBytes > 0);
});

protection('a full lock is called all where it is one', () => {
  const { wrapper, claimed } = measured(['lock']);
  assert.is(claimed, isRoot && wrapper.ipcLock ? 'all' : claimed);
  assert.is(wrapper.lockMode, claimed);
  if (claimed === 'all') assert.ok(wrapper.lockedBytes > 1_000_000);
});

protection('without any measure it says so', () => {
  const { wrapper, secretMemory, application } = measured([], '65536');
  assert.is(wrapper.dumpable, true);
  assert.is(wrapper.lockMode, 'none');
  assert.is(wrapper.lockLimitBytes, 65_536);
  assert.is(wrapper.lockedBytes, 0);
  assert.is(secretMemory, undefined);
  assert.is(application.lockedBytes, 0);
});

protection('secret memory that is anonymous or unmapped is not taken for better', () => {
  const memory = createSecretMemory({ requireMemfdSecret: false, requireLock: false });
  const region = memory.allocate(100);
  assert.is(measureOwnProtection([region]).secretMemory?.kind, region.kind);
  const gone = measureOwnProtection([region, { address: 4096n, length: 10 }]).secretMemory;
  assert.equal(gone, { kind: 'anonymous', bytes: 110, locked: false, undumped: false });
  region.release();
});

protection('agrees with the kernel about the capability', () => {
  const effective = BigInt(`0x${/^CapEff:\s*(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]}`);
  assert.is(measureOwnProtection().wrapper.ipcLock, (effective & (1n << 14n)) !== 0n);
});

protection('a process that is gone has no protection', () => {
  assert.is(measureApplicationProtection(2 ** 22 + 1), undefined);
});

protection('whose process is dumpable is told by the owner of its files, for root not at all', () => {
  assert.is(dumpableByOwner(1000, 1000), true);
  assert.is(dumpableByOwner(0, 1000), false);
  assert.is(dumpableByOwner(0, 0), undefined);
});

/** A mapping as /proc/PID/smaps has it. */
function mapping(range: string, name: string, kB: number, flags: string): string {
  const fields = [`Rss: ${kB + 4} kB`, `Anonymous: ${kB} kB`, 'Swap: 4 kB', `VmFlags: ${flags} `];
  return `${range} 00:00 0 ${' '.repeat(10)}${name}\n${fields.map((field) => field.replace(': ', ':    ')).join('\n')}`;
}

protection('mappings are told apart: what they hold, whether it is locked, dumped', () => {
  const text = [
    mapping('1000-3000 rw-p 0', '[heap]', 8, 'rd wr lo dd'),
    mapping('4000-5000 rw-p 0', '', 0, 'rd wr'),
  ];
  const [first, second] = parseMappedMemory(`${text.join('\n')}\n`);
  assert.equal(
    [first?.heldBytes, first?.locked, first?.undumped, first?.name],
    [12_288, true, true, '[heap]'],
  );
  assert.equal([second?.heldBytes, second?.locked, second?.undumped], [4_096, false, false]);
});

protection('unlocked memory around generated code does not make a lock partial, other memory does', () => {
  const locked = mapping('1000-3000 rw-p 0', '', 8, 'lo');
  const code = `${mapping('10000-11000 rwxp 0', '', 4, 'rd')}\n${mapping('11000-12000 rw-p 0', '', 4, 'rd')}`;
  const other = mapping('20000-21000 rw-p 0', '', 4, 'rd');
  const shared = mapping('30000-31000 rw-s 0', '', 4, 'rd');
  const mode = (...text: string[]) => lockProtection(parseMappedMemory(text.join('\n'))).lockMode;
  assert.is(mode(locked, code, shared), 'all');
  assert.is(mode(locked, code, other), 'partial');
  assert.is(mode(code, other), 'none');
});

protection('reads fields of status and limits', () => {
  const status = 'Name:\tnode\nVmLck:\t      12 kB\nCapEff:\t0000000000004000\n';
  assert.is(statusBytes(status, 'VmLck'), 12_288);
  assert.is(statusBytes(status, 'VmSwap'), 0);
  assert.is(statusField(status, 'CapEff'), '0000000000004000');
  const limits =
    'Max core file size        1                    unlimited            bytes     \nMax locked memory   unlimited  unlimited bytes\n';
  assert.is(softLimit(limits, 'Max core file size'), 1);
  assert.is(softLimit(limits, 'Max locked memory'), Number.POSITIVE_INFINITY);
});

protection.run();
