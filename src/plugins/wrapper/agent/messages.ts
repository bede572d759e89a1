/** The messages of proto/svc/agent/v1/node_agent.proto, as a wrapper writes and reads them. */
import { type Fields, readFields } from '../../../core/protobuf/read-fields.ts';
import {
  bool,
  embedded,
  message,
  presentBool,
  presentUnsigned,
  string,
  unsigned,
} from '../../../core/protobuf/write-fields.ts';
import type {
  ApplicationProtection,
  ProcessProtection,
  SecretMemoryProtection,
} from '../protection/protection.ts';

export interface Registration {
  /** UID of the pod; empty outside of a cluster. */
  readonly podUid: string;
  readonly version: string;
  readonly protection: ProcessProtection;
  readonly requireEnforcement: boolean;
}

export interface Acknowledgement {
  /** As the agent's PID namespace numbers it. */
  readonly registeredPid: number;
  /** 1 to 4; 0 where the agent does not say. */
  readonly tier: number;
  readonly enforcing: boolean;
  readonly agentVersion: string;
  /** Why it does not enforce. */
  readonly reason: string;
}

export interface ProtectionReport {
  readonly podUid: string;
  readonly version: string;
  readonly wrapper: ProcessProtection;
  readonly application: ApplicationProtection | undefined;
  readonly secretMemory: SecretMemoryProtection | undefined;
  readonly delivery: 'both' | 'env' | 'fd';
}

const deliveries = { both: 1, env: 2, fd: 3 } as const;

export function encodeRegistration(registration: Registration): Uint8Array {
  return message(
    string(1, registration.podUid),
    string(2, registration.version),
    optional(3, registration.protection, processFields),
    bool(4, registration.requireEnforcement),
  );
}

/** @throws ProtobufError */
export function decodeAcknowledgement(answer: Uint8Array): Acknowledgement {
  const fields: Fields = readFields(answer);
  return {
    registeredPid: fields.unsigned32(1),
    tier: fields.unsigned32(2),
    enforcing: fields.bool(3),
    agentVersion: oneLine(fields.string(4)),
    reason: oneLine(fields.string(5)),
  };
}

export function encodeReport(report: ProtectionReport): Uint8Array {
  return message(
    string(1, report.podUid),
    string(2, report.version),
    optional(3, report.wrapper, processFields),
    optional(4, report.application, applicationFields),
    optional(5, report.secretMemory, secretMemoryFields),
    unsigned(6, deliveries[report.delivery]),
  );
}

/** These texts go to logs. */
function oneLine(text: string): string {
  return text.replace(/\p{C}+/gu, ' ').slice(0, 500);
}

const lockModes = { none: 1, partial: 2, all: 3 } as const;
const secretMemoryKinds = { memfd_secret: 1, anonymous: 2 } as const;

/** ProcessProtection of the schema. */
function processFields(protection: ProcessProtection): Uint8Array {
  return message(
    unsigned(1, lockModes[protection.lockMode]),
    unsigned(2, protection.lockedBytes),
    unsigned(3, protection.unlockedBytes),
    unsigned(4, protection.swappedBytes),
    presentUnsigned(5, limit(protection.lockLimitBytes)),
    presentUnsigned(6, limit(protection.coreLimitBytes)),
    presentBool(7, protection.dumpable),
    bool(8, protection.ipcLock),
  );
}

/** ApplicationProtection of the schema. */
function applicationFields(protection: ApplicationProtection): Uint8Array {
  return message(
    unsigned(1, protection.pid),
    unsigned(2, protection.lockedBytes),
    unsigned(3, protection.swappedBytes),
    presentUnsigned(4, limit(protection.coreLimitBytes)),
    presentBool(5, protection.dumpable),
  );
}

/** SecretMemory of the schema. */
function secretMemoryFields(protection: SecretMemoryProtection): Uint8Array {
  return message(
    unsigned(1, secretMemoryKinds[protection.kind]),
    unsigned(2, protection.bytes),
    bool(3, protection.locked),
    bool(4, protection.undumped),
  );
}

/** A field that is present, or left out where there is nothing to tell. */
function optional<T>(number: number, value: T | undefined, write: (value: T) => Uint8Array): Uint8Array {
  return embedded(number, value === undefined ? undefined : write(value));
}

/** No limit is an absent field. */
function limit(bytes: number): number | undefined {
  return bytes === Number.POSITIVE_INFINITY ? undefined : bytes;
}
