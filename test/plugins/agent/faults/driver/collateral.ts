import { execFile } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { tryLong } from '../../../../../src/runtime/native/libc.ts';
import { withMemory } from '../../../../../src/runtime/native/memory.ts';
import { readOrdinarily } from '../../../../support/bypass/load.ts';
import type { VictimFacts } from '../../../../support/bypass/types.ts';
import { startVictim } from '../../../../support/bypass/victim.ts';
import type { LogLine } from '../../../../support/log-lines.ts';
import { attempt } from './attempts.ts';
import type { Bench } from './bench.ts';

export interface CollateralRecord {
  readonly tier: string;
  /** Ordinary reads of the covered process that this kernel has, and those that failed. */
  readonly ordinary: number;
  readonly ordinaryFailed: readonly string[];
  readonly tools: readonly ToolRun[];
  /** What a covered process may do to itself. */
  readonly own: Readonly<Record<string, boolean>>;
  /** What tools do to a process that is not covered. */
  readonly unprotectedTrace: string;
  readonly unprotectedProfile: boolean;
  /** What of all this the agent took for attempts. */
  readonly hits: readonly string[];
}

export interface ToolRun {
  readonly command: string;
  readonly status: number | string;
  /** It names the covered process, and shows of its environment nothing. */
  readonly namesIt: boolean;
  readonly leaks: boolean;
}

/** Commands of an operator's every day; `PID` stands for the covered process. */
const everyday: readonly (readonly string[])[] = [
  ['ps', 'aux'],
  ['ps', 'axe'],
  ['busybox', 'ps'],
  ['top', '-b', '-n1', '-p', 'PID'],
  ['ls', '-l', '/proc/PID/fd'],
  ['cat', '/proc/PID/status'],
];

export async function collateral(bench: Bench): Promise<CollateralRecord> {
  const { machine, agent } = bench;
  const { place, facts } = await bench.covered();
  const reads = (await readOrdinarily(machine.bypass, facts.pid)).filter(({ absent }) => !absent);
  const tools: ToolRun[] = [];
  for (const command of everyday) tools.push(await runTool(command, facts));
  tools.push(walkDescriptors(facts.pid));
  const other = await startVictim(machine.bypass);
  const program = await place.start(process.execPath, ['-e', readsItself], { OWN_SECRET: facts.marker });
  const own = await program.next<Record<string, boolean>>();
  const record = {
    tier: String(agent.listening['tier']),
    ordinary: reads.length,
    ordinaryFailed: reads.filter(({ ok }) => !ok).map(({ name, error }) => `${name}: ${error}`),
    ...{ tools, own },
    unprotectedProfile: profile(other.facts.pid),
    unprotectedTrace: await attempt(machine, other.facts, 'ptrace-attach'),
    hits: ['hit.denied', 'hit.killed', 'hit.seen'].flatMap(agent.lines).map(describe),
  };
  await program.kill();
  await other.end();
  return record;
}

function describe({ road, outcome, syscall, source_comm: comm }: LogLine): string {
  return `${road} ${outcome} ${syscall} by ${comm}`;
}

function runTool(command: readonly string[], { pid, marker }: VictimFacts): Promise<ToolRun> {
  const [file = '', ...args] = command.map((word) => word.replace('PID', String(pid)));
  return new Promise((resolve) =>
    execFile(file, args, { encoding: 'latin1', maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      const status = error?.signal ?? error?.code ?? 0;
      const said = stdout + stderr;
      resolve({
        ...{ command: command.join(' '), status },
        namesIt: new RegExp(`\\b${pid}\\b`).test(said) || file === 'ls',
        leaks: said.includes(marker),
      });
    }),
  );
}

/** As lsof does for all processes. */
function walkDescriptors(pid: number): ToolRun {
  let seen = false;
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const fd of listed(`/proc/${entry}/fd`)) {
      const link = linkOf(`/proc/${entry}/fd/${fd}`);
      if (Number(entry) === pid && link.includes('memfd:bypass')) seen = true;
    }
  }
  return { command: 'walk of all fd/', status: 0, namesIt: seen, leaks: false };
}

/** Processes end while they are looked at, and a machine's first process may be closed to all others. */
const vanished = ['ENOENT', 'ESRCH', 'EACCES'];

function listed(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (vanished.includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (vanished.includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

/** A covered process reads itself, by its main thread and by those of its pool. */
const readsItself = `
const fs = require('node:fs');
const secret = process.env.OWN_SECRET;
const shows = (path) => fs.readFileSync(path, 'latin1').includes(secret);
const start = Number.parseInt(/^[0-9a-f]+/.exec(fs.readFileSync('/proc/self/maps', 'latin1'))[0], 16);
const own = {
  environ: shows('/proc/self/environ'),
  byPid: shows('/proc/' + process.pid + '/environ'),
  byThreads: fs.readdirSync('/proc/self/task').every((tid) => shows('/proc/self/task/' + tid + '/environ')),
  memory: fs.readSync(fs.openSync('/proc/self/mem', 'r'), Buffer.alloc(4), 0, 4, start) === 4,
};
fs.promises.readFile('/proc/self/environ', 'latin1').then((text) => {
  console.log(JSON.stringify({ ...own, byOtherThread: text.includes(secret) }));
  process.stdin.resume();
});`;

const perfEventOpen = 298n;
const attributeSize = 112;
const software = 1;
const samplesIp = 1n;

/** Samples where a process is, without its stack. */
function profile(pid: number): boolean {
  return withMemory(attributeSize, ({ address, bytes }) => {
    bytes.fill(0);
    bytes.writeUInt32LE(software);
    bytes.writeUInt32LE(attributeSize, 4);
    bytes.writeBigUInt64LE(1_000_000n, 16);
    bytes.writeBigUInt64LE(samplesIp, 24);
    return tryLong('syscall', perfEventOpen, address, BigInt(pid), -1n, -1n, 0n) >= 0n;
  });
}
