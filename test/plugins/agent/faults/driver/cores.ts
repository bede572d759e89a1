import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { startVictim } from '../../../../support/bypass/victim.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import type { Bench } from './bench.ts';

export interface CoreRecord {
  /** Bytes of the core of an unprotected process that aborts. */
  readonly unprotected: number;
  /** Names of what the agent left when it was aborted. */
  readonly ofAgent: readonly string[];
}

const folder = '/tmp/cores';
const patternFile = '/proc/sys/kernel/core_pattern';

/** For a machine of one's own: where cores go is changed. The agent ends by this. */
export async function cores({ machine, agent }: Bench): Promise<CoreRecord> {
  const former = readFileSync(patternFile, 'utf8');
  spawnSync('mkdir', ['-p', folder]);
  writeFileSync(patternFile, `${folder}/core.%p`);
  try {
    const victim = await startVictim(machine.bypass, { coreLimit: 1 << 30 });
    const { pid } = victim.facts;
    victim.tell('abort').catch(() => undefined);
    const path = `${folder}/core.${pid}`;
    await waitFor('the core', () => existsSync(path) && isGone(pid), { timeoutMs: 10_000 });
    const unprotected = statSync(path).size;
    await agent.kill('SIGABRT');
    const ofAgent = readdirSync(folder).filter((name) => name === `core.${agent.pid}`);
    return { unprotected, ofAgent };
  } finally {
    writeFileSync(patternFile, former);
    rmSync(folder, { recursive: true, force: true });
  }
}

function isGone(pid: number): boolean {
  return !existsSync(`/proc/${pid}`);
}
