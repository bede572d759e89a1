import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tryAccessPath } from '../../../../support/bypass/attempt.ts';
import { newMarker } from '../../../../support/bypass/victim.ts';
import type { SvcAgent } from '../../../../support/svc-agent.ts';
import { startWrapper, type WrapperRun } from '../../../../support/svc-wrapper.ts';
import type { KeyServer } from './key-server.ts';
import type { Machine } from './machine.ts';

export interface DumpsRecord {
  readonly kind: 'dumps';
  /** Of the application when the wrapper is told to leave the limit alone. */
  readonly unlimited: Dump;
  readonly application: Dump;
  readonly wrapper: Dump;
  /** What came of raising the limit from outside. */
  readonly raised: { readonly application: string; readonly wrapper: string };
  /** What came of looking for the secret in the arguments after setproctitle, and how much was there. */
  readonly title: { readonly outcome: string; readonly detail: string };
}

/** `with the secret`, `without it`, or none came. */
export type Dump = 'with the secret' | 'without it' | 'none';

const sink = '/tmp/core';
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Crashes wrapper and application on a machine of their own, whose kernel pipes cores to a program. */
export async function runDumps(machine: Machine, keys: KeyServer, agent: SvcAgent): Promise<DumpsRecord> {
  writeFileSync('/proc/sys/kernel/core_pattern', `|${machine.bypass} dump-sink ${sink}`);
  const marker = newMarker();
  await keys.put('app', { KEY: marker, BYPASS_SECRET: marker });
  const start = (env: Record<string, string>, command = ['/bin/sh', '-c', 'ulimit -c; exec sleep 600']) =>
    startUnlimited(machine, keys, { SVC_EBPF_AGENT_ADDR: agent.address, ...env }, command);
  const applicationOf = async (run: WrapperRun) => Number((await run.event('application.started'))['pid']);

  const free = await start({ SVC_CORE_LIMIT: 'inherit' });
  const unlimited = await dumpOf(await applicationOf(free), 'SIGABRT', free, marker);

  const limited = await start({});
  const pid = await applicationOf(limited);
  const raise = async (target: number) =>
    (await tryAccessPath(machine.bypass, 'core-limit', { pid: target, marker }, { allowCorePattern: false }))
      .outcome;
  const raised = { application: await raise(pid), wrapper: await raise(limited.pid) };
  const application = await dumpOf(pid, 'SIGABRT', limited, marker);

  const titled = await start({}, [machine.bypass, 'victim', '--setproctitle']);
  await titled.says(/^\{"pid":/m);
  const target = { pid: await applicationOf(titled), marker };
  const { outcome, detail } = await tryAccessPath(machine.bypass, 'cmdline-setproctitle', target);
  // SIGABRT would be passed on; a wrapper that crashes leaves its application behind
  const ended = dumpOf(titled.pid, 'SIGSEGV', titled, marker);
  process.kill(target.pid, 'SIGKILL');
  const wrapper = await ended;
  return { kind: 'dumps', unlimited, application, wrapper, raised, title: { outcome, detail } };
}

/** With an input that stays open, and no limit on core dumps but the wrapper's. */
async function startUnlimited(
  machine: Machine,
  keys: KeyServer,
  env: Record<string, string>,
  command: readonly string[],
): Promise<WrapperRun> {
  return startWrapper({
    vault: await keys.vault(),
    paths: ['secret/app'],
    under: ['/bin/sh', '-c', 'ulimit -c unlimited; mkfifo input; exec "$0" "$@" <>input'],
    entry: machine.wrapper,
    command,
    env: { SVC_REQUIRE_ENFORCEMENT: 'true', SVC_DELIVERY: 'env', ...env },
  });
}

async function dumpOf(pid: number, signal: NodeJS.Signals, run: WrapperRun, marker: string): Promise<Dump> {
  rmSync(sink, { force: true });
  process.kill(pid, signal);
  await run.exited;
  await later(3_000);
  if (!existsSync(sink)) return 'none';
  return readFileSync(sink).includes(marker) ? 'with the secret' : 'without it';
}
