import { openServer, runDemo } from './program.ts';

await runDemo({ start: async () => openServer(new Promise(() => {})) });
