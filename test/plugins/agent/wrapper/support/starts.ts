import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogLine } from '../../../../support/log-lines.ts';
import { startWrapper, type WrapperRun } from '../../../../support/svc-wrapper.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import type { KeyServer } from './key-server.ts';
import type { Machine } from './machine.ts';

export interface StartsOptions {
  readonly machine: Machine;
  readonly keys: KeyServer;
  /** Of an agent, as SVC_EBPF_AGENT_ADDR. */
  readonly address: string | undefined;
  readonly starts: number;
  /** Generations of the secret in each start but the last, which ends it. */
  readonly rotations: number;
  readonly marker: string;
}

/** The wrapper, started over and over below a shell that is there before it. */
export interface Starts {
  /** The wrapper and its applications are its descendants. */
  readonly shell: number;
  /** Lets the shell begin, and resolves when the last wrapper has ended; in ms since the epoch. */
  run(): Promise<{ readonly begun: number; readonly lines: readonly LogLine[]; readonly output: string }>;
  stop(): Promise<void>;
}

/** Starts what follows so many times, once the file is there. */
const again =
  'n=$1; shift; until [ -e "$0" ]; do sleep 0.05; done; while [ $n -gt 0 ]; do "$@" || exit; n=$((n-1)); done';
/** Ends by itself with the last generation, and is told to end with the others. */
const application = 'echo "RUN $KEY"; case $KEY in *-last) sleep 0.1; exit 0;; esac; exec sleep 600';

export async function prepareStarts(options: StartsOptions): Promise<Starts> {
  const { machine, keys, address, starts, rotations, marker } = options;
  const folder = temporaryFolder('starts');
  const gate = join(folder.path, 'gate');
  const value = (generation: number) => `${marker}-${generation === rotations ? 'last' : generation}`;
  await keys.put('app', { KEY: value(0) });
  const run = await startWrapper({
    vault: await keys.vault(),
    paths: ['secret/app'],
    under: ['/bin/sh', '-c', again, gate, String(starts)],
    entry: machine.wrapper,
    command: ['/bin/sh', '-c', application],
    env: {
      SVC_EBPF_AGENT_ADDR: address,
      SVC_REQUIRE_ENFORCEMENT: address === undefined ? undefined : 'true',
      SVC_ROTATION: 'restart',
      RENEWAL_INTERVAL: '1s',
    },
  });
  return {
    shell: run.pid,
    async run() {
      const begun = Date.now();
      writeFileSync(gate, '');
      if (rotations > 0) await rotate(run, keys, value, rotations);
      const { code, signal } = await run.exited;
      if (code !== 0) throw new Error(`The wrapper ended with ${code ?? signal}\n${run.output()}`);
      return { begun, lines: run.events(), output: run.output() };
    },
    async stop() {
      await run.stop();
      await folder.remove();
    },
  };
}

/** Writes the next generation as soon as an application has the one before. */
async function rotate(
  run: WrapperRun,
  keys: KeyServer,
  value: (generation: number) => string,
  rotations: number,
): Promise<void> {
  let seen = 0;
  while (!run.ended) {
    const values = [...run.output().matchAll(/^RUN (\S+)$/gm)].map(([, text]) => text);
    if (values.length > seen) {
      seen = values.length;
      const generation = Array.from({ length: rotations + 1 }, (_, n) => value(n)).indexOf(
        String(values.at(-1)),
      );
      await keys.put('app', { KEY: value((generation + 1) % (rotations + 1)) });
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
