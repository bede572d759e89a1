import { openServer, runDemo, whenAborted } from './program.ts';

/** Goes on writing although nobody reads any more. */
await runDemo({
  start: async (_config, { log }, signal) => {
    const talk = setInterval(() => {
      log.info('chat');
      process.stderr.write('chat\n');
      process.stdout.write('chat\n');
    }, 5);
    return openServer(whenAborted(signal).finally(() => clearInterval(talk)));
  },
});
