import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Scene } from './scene.ts';

interface Answer {
  readonly covered: boolean;
  readonly limit: string;
}

export interface AskedRecord {
  readonly before: Answer;
  readonly after: Answer;
  /** By programs that only report. */
  readonly audited: Answer;
}

/** A process asks whether it is covered. */
export async function asked(scene: Scene): Promise<AskedRecord> {
  const { guard } = await scene.shared();
  const audit = await scene.fresh('asked', { enforce: false });
  const seen = await startAsker(scene);
  audit.guard.protect(seen.pid);
  const audited = await seen.ask();
  seen.end();
  const asker = await startAsker(scene);
  const before = await asker.ask();
  guard.protect(asker.pid);
  const after = await asker.ask();
  asker.end();
  return { before, after, audited };
}

async function startAsker({ asker }: Scene) {
  const child = spawn(process.execPath, [asker], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  await once(child, 'spawn');
  return {
    pid: child.pid as number,
    async ask(): Promise<Answer> {
      const answer = once(lines, 'line');
      child.stdin.write('\n');
      return JSON.parse((await answer)[0]);
    },
    end: () => child.stdin.end(),
  };
}
