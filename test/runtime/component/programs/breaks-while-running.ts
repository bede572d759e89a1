import { setTimeout as wait } from 'node:timers/promises';
import { openServer, runDemo } from './program.ts';

const broken = wait(20).then(() => {
  throw new Error('the listener broke');
});
await runDemo({ start: async () => openServer(broken) });
