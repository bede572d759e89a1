import type { RecoveryRehearsal } from '../../../../../src/objects/format/recovery-rehearsal.ts';
import { exitStatus, SvcError } from '../../../../../src/runtime/errors.ts';
import type { Fixture, Fixtures } from '../../fixture.ts';
import { fakeStore } from '../../store/fake-store.ts';
import { configOf } from '../../test-context.ts';

/** Of a bucket in which everything opens. */
export const healthyRehearsal: RecoveryRehearsal = {
  ...{ listed: 12, unencrypted: 0, gone: 0, denied: 0, faults: [], endedBy: undefined },
  opened: [
    { key: 'a', format: 1, depth: 'whole' },
    { key: 'b', format: 2, parts: 2, depth: 'ends' },
  ],
};

const config = configOf({ SVC_VALIDATE_BUCKET: 'photos', SVC_PROXY_RECOVERY_KEY_FILE: '/keys/recovery.key' });

export const afterRehearsal =
  (changes: Partial<RecoveryRehearsal> = {}) =>
  (): Fixture => ({
    config,
    store: async () => fakeStore().store,
    rehearsal: async () => ({ ...healthyRehearsal, ...changes }),
  });

export const withUnusableKey = (): Fixture => ({
  ...afterRehearsal()(),
  rehearsal: async () => {
    throw new SvcError('RECOVERY_KEY', '/keys/recovery.key does not hold X25519 private keys', {
      nextStep: 'Name another.',
      exitStatus: exitStatus.config,
    });
  },
});

const fault = (reason: string) => ({ key: 'c d', reason, message: 'it does not open' });

export const fixtures: Fixtures = {
  'SVC-RECOVERY-001': { passes: afterRehearsal(), fails: withUnusableKey },
  'SVC-RECOVERY-002': {
    passes: afterRehearsal(),
    fails: afterRehearsal({ faults: [fault('not-recoverable')] }),
  },
  'SVC-RECOVERY-003': {
    passes: afterRehearsal(),
    fails: afterRehearsal({ faults: [fault('authentication-failed')] }),
  },
};
