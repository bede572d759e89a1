import { openServer, runDemo } from './program.ts';

await runDemo({
  start: async () => {
    setTimeout(() => void Promise.reject(new Error('nobody awaits')), 20);
    return openServer(new Promise(() => {}));
  },
});
