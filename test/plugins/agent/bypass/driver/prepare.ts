import type { LineProcess } from '../../../../support/bypass/line-process.ts';
import type { AccessPathEntry, VictimFacts } from '../../../../support/bypass/types.ts';
import { newMarker } from '../../../../support/bypass/victim.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../../support/temporary.ts';
import type { Place } from './place.ts';

export interface Prepared {
  readonly process: LineProcess;
  readonly facts: VictimFacts;
}

/** Starts a victim there, as the attack path needs it. */
export async function prepareVictim(
  program: string,
  { needs }: Pick<AccessPathEntry, 'needs'>,
  place: Place,
): Promise<Prepared> {
  const folder = needs.includes('tool') ? temporaryFolder('tool') : undefined;
  const args = [
    'victim',
    ...(needs.includes('child') ? ['--child'] : []),
    ...(needs.includes('core-limit') ? ['--core-limit', '1'] : []),
    ...(folder === undefined ? [] : ['--tool', folder.path]),
  ];
  const started = await place.start(program, args, { BYPASS_SECRET: newMarker() });
  const process = folder === undefined ? started : removedAfter(started, folder);
  const facts = await process.next<VictimFacts>();
  if (needs.includes('leader-gone')) await ask(process, 'exit-leader');
  return { process, facts };
}

function removedAfter(process: LineProcess, folder: TemporaryFolder): LineProcess {
  return {
    ...process,
    async kill() {
      const exit = await process.kill();
      await folder.remove();
      return exit;
    },
  };
}

/** Has the victim do something, and yields what it says about that. */
export async function ask<T>(victim: LineProcess, command: string): Promise<T> {
  victim.send(command);
  return victim.next<T>();
}

export function targetsOf({ pid, child }: VictimFacts): number[] {
  return child === undefined ? [pid] : [pid, child];
}
