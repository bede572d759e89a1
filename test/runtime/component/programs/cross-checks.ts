import { applyRules } from '../../../../src/runtime/settings/resolve.ts';
import { openServer, runDemo, whenAborted } from './program.ts';

await runDemo({
  check: (config) =>
    applyRules(config, [({ size }) => (size > 8 ? 'DEMO_SIZE: at most 8 without a password' : undefined)]),
  start: async (_config, _deps, signal) => openServer(whenAborted(signal)),
});
