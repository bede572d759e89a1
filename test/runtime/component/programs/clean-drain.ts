import { setTimeout as wait } from 'node:timers/promises';
import { openServer, runDemo, whenAborted } from './program.ts';

await runDemo({
  start: async (_config, { log, metrics, health }, signal) => {
    metrics.counter('demo_total', 'Demo').inc();
    health.notReady('demo', 'not asked yet');
    const closed = whenAborted(signal).then(() => {
      log.info('draining', { ready: health.isReady() });
      return wait(50);
    });
    setTimeout(() => health.ready('demo'), 50);
    return openServer(closed);
  },
});
