/**
 * What a wrapper reports, as proto/svc/agent/v1 has it: sizes in bytes, an absent limit is none, any other absent
 * field was not told. Words are the schema's in lower case, without their prefix.
 */
export interface ProtectionReport {
  /** As the agent's PID namespace numbers it. */
  readonly pid: number;
  /** Nanoseconds since boot; with the PID it names the process for good. */
  readonly start: bigint;
  /** Undefined outside of a pod. */
  readonly podUid: string | undefined;
  readonly wrapperVersion: string;
  readonly wrapper: ProcessProtection | undefined;
  readonly application: ApplicationProtection | undefined;
  readonly secretMemory: SecretMemory | undefined;
  readonly delivery: Delivery;
}

export interface ProcessProtection {
  readonly lockMode: LockMode;
  readonly lockedBytes: number;
  readonly unlockedBytes: number;
  readonly swappedBytes: number;
  readonly lockLimit: number | undefined;
  readonly coreLimit: number | undefined;
  readonly dumpable: boolean | undefined;
  readonly ipcLock: boolean;
}

export interface ApplicationProtection {
  /** As the wrapper's PID namespace numbers it. */
  readonly pid: number;
  readonly lockedBytes: number;
  readonly swappedBytes: number;
  readonly coreLimit: number | undefined;
  readonly dumpable: boolean | undefined;
}

export interface SecretMemory {
  readonly kind: SecretMemoryKind;
  readonly bytes: number;
  readonly locked: boolean;
  readonly undumped: boolean;
}

export const lockModes = ['unspecified', 'none', 'partial', 'all'] as const;
export const secretMemoryKinds = ['unspecified', 'memfd_secret', 'anonymous'] as const;
export const deliveries = ['unspecified', 'both', 'env', 'fd'] as const;

export type LockMode = (typeof lockModes)[number];
export type SecretMemoryKind = (typeof secretMemoryKinds)[number];
export type Delivery = (typeof deliveries)[number];
