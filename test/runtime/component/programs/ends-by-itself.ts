import { setTimeout as wait } from 'node:timers/promises';
import { openServer, runDemo } from './program.ts';

await runDemo({ start: async () => openServer(wait(20)) });
