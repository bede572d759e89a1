/** What proto-loader makes of the schema's messages, as report.ts has it. */
import {
  type ApplicationProtection,
  type Delivery,
  deliveries,
  lockModes,
  type ProcessProtection,
  type SecretMemory,
  secretMemoryKinds,
} from './report.ts';

/** 64-bit integers are decimal text; an enum is its name, or a number that this schema does not have. */
type Integer = string;
type Enum = string | number;

/** What a wrapper last measured: of svc.agent.v1 a report's, of svc.operator.v1 `Measured`. An absent message is null. */
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

export interface Measured {
  readonly wrapper: ProcessProtection | undefined;
  readonly application: ApplicationProtection | undefined;
  readonly secretMemory: SecretMemory | undefined;
  readonly delivery: Delivery;
}

export function measured(message: MeasuredMessage): Measured {
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

function secretMemoryOf({ kind, bytes, locked, undumped }: SecretMemoryMessage): SecretMemory {
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

/** A newer wrapper may have words that are not known here: they count as not told. */
function wordOf<W extends string>(words: readonly [W, ...W[]], prefix: string, name: Enum): W {
  return words.find((word) => `${prefix}_${word.toUpperCase()}` === name) ?? words[0];
}
