import type { AgentReport, Registration } from '../../../../../src/plugins/wrapper/agent/agent-client.ts';

export const POD = '6f9c1c1e-5d1c-4f0e-9f8a-0d7b3a1f2c4d';

const protection = {
  lockMode: 'all',
  lockedBytes: 6_000_000,
  unlockedBytes: 4096,
  swappedBytes: 0,
  lockLimitBytes: Number.POSITIVE_INFINITY,
  coreLimitBytes: 1,
  dumpable: false,
  ipcLock: true,
} as const;

/** As a wrapper outside of a cluster sends it. */
export const registration: Registration = {
  podUid: '',
  version: '0.1.0',
  protection,
  requireEnforcement: false,
};

export const wrapperReport: AgentReport = {
  podUid: '',
  version: '0.1.0',
  wrapper: protection,
  application: {
    pid: 17,
    lockedBytes: 0,
    swappedBytes: 8192,
    coreLimitBytes: Number.POSITIVE_INFINITY,
    dumpable: undefined,
  },
  secretMemory: { kind: 'memfd_secret', bytes: 4096, locked: true, undumped: true },
  delivery: 'fd',
};

/** How the agent keeps the above. */
export const keptReport = {
  wrapperVersion: '0.1.0',
  wrapper: {
    ...{ lockMode: 'all', lockedBytes: 6_000_000, unlockedBytes: 4096, swappedBytes: 0 },
    ...{ lockLimit: undefined, coreLimit: 1, dumpable: false, ipcLock: true },
  },
  application: { pid: 17, lockedBytes: 0, swappedBytes: 8192, coreLimit: undefined, dumpable: undefined },
  secretMemory: { kind: 'memfd_secret', bytes: 4096, locked: true, undumped: true },
  delivery: 'fd',
};
