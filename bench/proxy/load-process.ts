import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Stoppable } from '../../test/support/types.ts';
import type { Job, JobResult } from './job.ts';

const program = fileURLToPath(new URL('load.ts', import.meta.url));

/** A process that sends requests and is kept, so that its code is compiled when it counts. One job at a time. */
export interface LoadProcess extends Stoppable {
  /** @throws Error with the first answer that was none */
  run(job: Job): Promise<JobResult>;
}

export function startLoadProcess(): LoadProcess {
  const child = fork(program);
  const ended = once(child, 'exit').then(() => {
    throw new Error('the load process ended');
  });
  ended.catch(() => undefined);
  return {
    async run(job) {
      const answered = once(child, 'message');
      child.send(job);
      const [answer] = (await Promise.race([answered, ended])) as [{ result?: JobResult; error?: string }];
      if (!answer.result) throw new Error(answer.error);
      return answer.result;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
