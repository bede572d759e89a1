import { exitStatus, SvcError } from '../../../../src/runtime/errors.ts';
import { runDemo } from './program.ts';

await runDemo({
  start: async () => {
    throw new SvcError('VAULT_DENIED', 'The secrets server refused the login', {
      nextStep: 'Check VAULT_AUTH_ROLE.',
      exitStatus: exitStatus.denied,
      cause: new Error('403'),
    });
  },
});
