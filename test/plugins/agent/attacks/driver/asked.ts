import { startLineProcess } from '../../../../support/bypass/line-process.ts';
import type { Scene } from './scene.ts';

interface CoverReply {
  readonly covered: boolean;
  readonly limit: string;
}

export interface AskedRecord {
  readonly before: CoverReply;
  readonly after: CoverReply;
  /** By programs that only report. */
  readonly audited: CoverReply;
}

/** A process asks whether it is covered. */
export async function asked(scene: Scene): Promise<AskedRecord> {
  const { guard } = await scene.shared();
  const audit = await scene.fresh('asked', { enforce: false });
  const seen = await startAsker(scene);
  audit.guard.protect(seen.pid);
  const audited = await seen.ask();
  seen.close();
  const asker = await startAsker(scene);
  const before = await asker.ask();
  guard.protect(asker.pid);
  const after = await asker.ask();
  asker.close();
  return { before, after, audited };
}

async function startAsker({ asker }: Scene) {
  const { pid, send, next, close } = await startLineProcess(process.execPath, [...process.execArgv, asker]);
  const ask = (): Promise<CoverReply> => {
    send('');
    return next();
  };
  return { pid, ask, close };
}
