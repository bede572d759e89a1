import { openServer, runDemo } from './program.ts';

await runDemo({
  start: async ({ password }) => {
    setTimeout(() => {
      throw new Error(`nobody handles ${password}`);
    }, 20);
    return openServer(new Promise(() => {}));
  },
});
