import { openServer, runDemo, whenAborted } from './program.ts';

await runDemo({
  start: async (_config, _deps, signal) => ({
    ...openServer(whenAborted(signal)),
    expose: async () => ({ contentType: 'text/plain', body: 'gathered_total 3\n' }),
  }),
});
