/**
 * A wrapper's report, as defined in proto/svc/agent/v1: sizes in bytes; an absent limit means unlimited, any other
 * absent field was not reported. Words are the schema's in lower case, without their prefix.
 */
export interface ProtectionReport {
  /** PID in the agent's PID namespace. */
  readonly pid: number;
  /** Nanoseconds since boot; PID and start identify a process uniquely. */
  readonly start: bigint;
  /** Undefined outside a pod. */
  readonly podUid: string | undefined;
  readonly wrapperVersion: string;
  readonly wrapper: ProcessProtection | undefined;
  readonly application: ApplicationProtection | undefined;
  readonly secretMemory: MeasuredSecretMemory | undefined;
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

interface ApplicationProtection {
  /** PID in the wrapper's PID namespace. */
  readonly pid: number;
  readonly lockedBytes: number;
  readonly swappedBytes: number;
  readonly coreLimit: number | undefined;
  readonly dumpable: boolean | undefined;
}

export interface MeasuredSecretMemory {
  readonly kind: SecretMemoryKind;
  readonly bytes: number;
  readonly locked: boolean;
  readonly undumped: boolean;
}

const lockModes = ['unspecified', 'none', 'partial', 'all'] as const;
const secretMemoryKinds = ['unspecified', 'memfd_secret', 'anonymous'] as const;
const deliveries = ['unspecified', 'both', 'env', 'fd'] as const;

export type LockMode = (typeof lockModes)[number];
export type SecretMemoryKind = (typeof secretMemoryKinds)[number];
export type Delivery = (typeof deliveries)[number];

/** Messages of the schema as proto-loader produces them. */

/** 64-bit integers are decimal text; an enum is its name, or a number that this schema does not define. */
type Integer = string;
type Enum = string | number;

/**
 * A wrapper's last measurements: from a report in svc.agent.v1, from `Measured` in svc.operator.v1. An absent message
 * is null.
 */
export interface MeasuredMessage {
  readonly wrapper: ProcessMessage | null;
  readonly application: ApplicationMessage | null;
  readonly secretMemory: SecretMemoryMessage | null;
  readonly delivery: Enum;
}

interface ProcessMessage {
  readonly lockMode: Enum;
  readonly lockedBytes: Integer;
  readonly unlockedBytes: Integer;
  readonly swappedBytes: Integer;
  readonly lockLimit?: Integer;
  readonly coreLimit?: Integer;
  readonly dumpable?: boolean;
  readonly ipcLock: boolean;
}

interface ApplicationMessage {
  readonly pid: number;
  readonly lockedBytes: Integer;
  readonly swappedBytes: Integer;
  readonly coreLimit?: Integer;
  readonly dumpable?: boolean;
}

interface SecretMemoryMessage {
  readonly kind: Enum;
  readonly bytes: Integer;
  readonly locked: boolean;
  readonly undumped: boolean;
}

export interface MeasuredProtection {
  readonly wrapper: ProcessProtection | undefined;
  readonly application: ApplicationProtection | undefined;
  readonly secretMemory: MeasuredSecretMemory | undefined;
  readonly delivery: Delivery;
}

export function measured(message: MeasuredMessage): MeasuredProtection {
  const { wrapper, application, secretMemory, delivery } = message;
  return {
    wrapper: wrapper ? processProtection(wrapper) : undefined,
    application: application ? applicationProtection(application) : undefined,
    secretMemory: secretMemory ? secretMemoryOf(secretMemory) : undefined,
    delivery: wordOf(deliveries, 'DELIVERY', delivery),
  };
}

function processProtection(message: ProcessMessage): ProcessProtection {
  return {
    lockMode: wordOf(lockModes, 'LOCK_MODE', message.lockMode),
    lockedBytes: Number(message.lockedBytes),
    unlockedBytes: Number(message.unlockedBytes),
    swappedBytes: Number(message.swappedBytes),
    lockLimit: optionalNumber(message.lockLimit),
    coreLimit: optionalNumber(message.coreLimit),
    dumpable: message.dumpable,
    ipcLock: message.ipcLock,
  };
}

function applicationProtection(message: ApplicationMessage): ApplicationProtection {
  return {
    pid: message.pid,
    lockedBytes: Number(message.lockedBytes),
    swappedBytes: Number(message.swappedBytes),
    coreLimit: optionalNumber(message.coreLimit),
    dumpable: message.dumpable,
  };
}

function secretMemoryOf({ kind, bytes, locked, undumped }: SecretMemoryMessage): MeasuredSecretMemory {
  return {
    kind: wordOf(secretMemoryKinds, 'SECRET_MEMORY_KIND', kind),
    bytes: Number(bytes),
    locked,
    undumped,
  };
}

function optionalNumber(text: Integer | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/** Unknown words from a newer wrapper count as not reported. */
function wordOf<W extends string>(words: readonly [W, ...W[]], prefix: string, name: Enum): W {
  return words.find((word) => `${prefix}_${word.toUpperCase()}` === name) ?? words[0];
}

/** Map key that identifies a process uniquely; `start` in nanoseconds since boot. */
export function processKey({ pid, start }: { readonly pid: number; readonly start: bigint }): string {
  return `${pid} ${start}`;
}

/** Tier of a node: 1 BPF LSM, 2 fmod_ret on the LSM's hooks, 3 raw tracepoints, 4 nothing. */
export type Tier = 1 | 2 | 3 | 4;

/** Tier names of the node agent's schema, also used in logs and metrics. */
export const tierNames: Readonly<Record<Tier, string>> = {
  1: 'lsm',
  2: 'fmod_ret',
  3: 'tracepoint',
  4: 'none',
};
