import { sleep } from '../../../../src/runtime/lifecycle/wait.ts';
import { runDemo } from './program.ts';

/** As a login that is retried while the server is away. */
await runDemo({
  start: async (_config, { log }, signal) => {
    log.info('waiting');
    await sleep(3_600_000, signal);
    throw new Error('not reached');
  },
});
