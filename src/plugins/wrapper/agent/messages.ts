/** The messages of proto/svc/agent/v1/node_agent.proto, as a wrapper writes and reads them. */
import { type Fields, readFields } from '../../../core/protobuf/read-fields.ts';
import { bool, message, string, unsigned } from '../../../core/protobuf/write-fields.ts';
import type {
  ApplicationProtection,
  ProcessProtection,
  SecretMemoryProtection,
} from '../protection/protection.ts';
import { applicationFields, optional, processFields, secretMemoryFields } from './protection-fields.ts';

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
