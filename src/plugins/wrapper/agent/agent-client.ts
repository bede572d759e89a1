import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { retry } from '../../../runtime/lifecycle/wait.ts';
import { socketName } from '../../../runtime/protocols/grpc.ts';
import {
  bool,
  embedded,
  message,
  ProtobufError,
  type ProtobufFields,
  presentBool,
  presentUnsigned,
  readFields,
  string,
  unsigned,
} from '../../../runtime/protocols/protobuf.ts';
import { GrpcError, type UnaryCall, unaryCall } from './grpc-call.ts';

export interface AgentCallOptions {
  /** Path of the agent's socket; a leading NUL means the abstract namespace. */
  readonly socketPath: string;
  /** Opens the connection instead, so that the agent sees another process as the caller. */
  readonly connection?: UnaryCall['connection'];
  /** Total time for attempts while the agent is away or not ready, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Called before each retry with the error of the last attempt. */
  readonly onRetry?: (error: unknown, delayMs: number) => void;
}

/** Limit of one attempt: a hanging agent may have been replaced behind the same path. */
const attemptMs = 5_000;

/**
 * Retries until the agent answers or the time is up.
 * @throws SvcError of `agentError`; the signal's reason
 */
export async function callAgent(
  method: 'Register' | 'Report',
  request: Uint8Array,
  { socketPath, connection, timeoutMs, signal, onRetry }: AgentCallOptions,
): Promise<Uint8Array> {
  const end = performance.now() + timeoutMs;
  const name = `/svc.agent.v1.NodeAgent/${method}`;
  let said: unknown;
  const ask = async () => {
    const leftMs = Math.max(1, Math.ceil(end - performance.now()));
    try {
      const attempt = { socketPath, connection, method: name, request, signal };
      return await unaryCall({ ...attempt, timeoutMs: Math.min(attemptMs, leftMs) });
    } catch (error) {
      // If the overall timeout cut the last attempt short, the error before it says more.
      const cutShort =
        leftMs < attemptMs && error instanceof GrpcError && error.status === 'DEADLINE_EXCEEDED';
      if (!cutShort || said === undefined) said = error;
      throw said;
    }
  };
  try {
    return await retry(ask, {
      initialMs: 20,
      maxMs: 1_000,
      maxElapsedMs: timeoutMs,
      isRetryable,
      ...(signal && { signal }),
      ...(onRetry && { onRetry }),
    });
  } catch (error) {
    throw agentError(error, socketPath);
  }
}

/** Failures that a retry may fix: the agent is away, starting, overloaded or being replaced. */
function isRetryable(error: unknown): boolean {
  return error instanceof GrpcError && !(error.status in verdicts);
}

/**
 * Translates an error of the call into the wrapper's own; other errors are passed on unchanged.
 * - AGENT_UNAVAILABLE, exit 69: no answer in time
 * - AGENT_INCOMPATIBLE, exit 69: the answer does not follow this schema
 * - AGENT_REFUSED, exit 77: the agent identified the caller and refuses to protect it
 * - AGENT_POD_UNKNOWN, exit 78: the pod's UID is not a UID
 */
export function agentError(error: unknown, socketPath: string): unknown {
  if (error instanceof ProtobufError) return verdict('incompatible', socketPath, error);
  if (!(error instanceof GrpcError)) return error;
  return verdict(verdicts[error.status] ?? 'unavailable', socketPath, error);
}

type Verdict = 'unavailable' | 'incompatible' | 'refused' | 'podUnknown';

const verdicts: Readonly<Partial<Record<GrpcError['status'], Verdict>>> = {
  PERMISSION_DENIED: 'refused',
  FAILED_PRECONDITION: 'refused',
  UNAUTHENTICATED: 'refused',
  INVALID_ARGUMENT: 'podUnknown',
  UNIMPLEMENTED: 'incompatible',
};

const texts: Readonly<Record<Verdict, readonly [code: string, what: string, status: number, next: string]>> =
  {
    unavailable: [
      'AGENT_UNAVAILABLE',
      'did not answer in time',
      exitStatus.unavailable,
      'Check that the node agent runs on this node and that its socket is mounted at SVC_EBPF_AGENT_ADDR, or set SVC_REQUIRE_AGENT=false to run without it.',
    ],
    incompatible: [
      'AGENT_INCOMPATIBLE',
      "does not speak this wrapper's protocol",
      exitStatus.unavailable,
      "Check that SVC_EBPF_AGENT_ADDR names the node agent's socket, and that the agent is not older than the wrapper.",
    ],
    refused: [
      'AGENT_REFUSED',
      'refused to register this process',
      exitStatus.denied,
      'Check that SVC_POD_UID is the UID of this pod and that no debugger is attached to the process.',
    ],
    podUnknown: [
      'AGENT_POD_UNKNOWN',
      'does not accept this pod UID',
      exitStatus.config,
      'Leave SVC_POD_UID to the webhook, or set it to metadata.uid of the pod.',
    ],
  };

function verdict(kind: Verdict, socketPath: string, cause: Error): SvcError {
  const [code, what, status, nextStep] = texts[kind];
  const message = `The node agent at ${socketName(socketPath)} ${what}: ${cause.message}`;
  return new SvcError(code, message, { nextStep, exitStatus: status, cause });
}

/**
 * Exit 71, as for required memory locks that are unavailable: the caller was not refused (77), the node cannot
 * provide the protection.
 */
export function notEnforcing({ tier, reason }: Acknowledgement): SvcError {
  const why = reason === '' ? `it works on tier ${tier}` : reason;
  return new SvcError(
    'AGENT_NOT_ENFORCING',
    `The node agent does not keep others out of this process: ${why}`,
    {
      nextStep:
        'Enable enforcement in the agent (enforceMode) on a node whose kernel supports it, or set SVC_REQUIRE_ENFORCEMENT=false.',
      exitStatus: exitStatus.system,
    },
  );
}

/** For a pod without the agent's socket that has waited in vain. */
export function notCovered(seconds: number): SvcError {
  return new SvcError('AGENT_NOT_ENFORCING', `No node agent has protected this process within ${seconds} s`, {
    nextStep:
      'Check that the pod has the label svc/protected=true and its node an agent on tier 1 or 2, or set SVC_REQUIRE_ENFORCEMENT=false.',
    exitStatus: exitStatus.system,
  });
}

/** The messages of proto/svc/agent/v1/node_agent.proto that a wrapper writes and reads. */

export interface Registration {
  /** UID of the pod; empty outside of a cluster. */
  readonly podUid: string;
  readonly version: string;
  readonly protection: ProtectionStatus;
  readonly requireEnforcement: boolean;
}

export interface Acknowledgement {
  /** In the agent's PID namespace. */
  readonly registeredPid: number;
  /** 1 to 4; 0 if the agent does not report one. */
  readonly tier: number;
  readonly enforcing: boolean;
  readonly agentVersion: string;
  /** Why the agent does not enforce; empty if it does. */
  readonly reason: string;
}

export interface AgentReport {
  readonly podUid: string;
  readonly version: string;
  readonly wrapper: ProtectionStatus;
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
  const fields: ProtobufFields = readFields(answer);
  return {
    registeredPid: fields.unsigned32(1),
    tier: fields.unsigned32(2),
    enforcing: fields.bool(3),
    agentVersion: oneLine(fields.string(4)),
    reason: oneLine(fields.string(5)),
  };
}

export function encodeReport(report: AgentReport): Uint8Array {
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
function processFields(protection: ProtectionStatus): Uint8Array {
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

function optional<T>(number: number, value: T | undefined, write: (value: T) => Uint8Array): Uint8Array {
  return embedded(number, value === undefined ? undefined : write(value));
}

/** The schema leaves the field out for "no limit". */
function limit(bytes: number): number | undefined {
  return bytes === Number.POSITIVE_INFINITY ? undefined : bytes;
}

/** A process's protection, read from the kernel. Sizes are bytes; Infinity means no limit. */
export interface ProtectionStatus {
  /** `all`: every non-empty private writable mapping is locked, except for memory around generated code. */
  readonly lockMode: 'all' | 'partial' | 'none';
  /** Private writable memory, present or swapped out, in locked and in unlocked mappings. */
  readonly lockedBytes: number;
  readonly unlockedBytes: number;
  readonly swappedBytes: number;
  readonly lockLimitBytes: number;
  readonly coreLimitBytes: number;
  /** Whether processes of the same user may trace this process and read its memory. */
  readonly dumpable: boolean;
  /** Whether CAP_IPC_LOCK is effective. */
  readonly ipcLock: boolean;
}

export interface ApplicationProtection {
  readonly pid: number;
  /** Size of the mappings that the application itself has locked. */
  readonly lockedBytes: number;
  readonly swappedBytes: number;
  readonly coreLimitBytes: number;
  /** Undefined if unknown: the /proc files of root's processes belong to root either way. */
  readonly dumpable: boolean | undefined;
}

/** Memory that holds secrets; for several regions the weakest properties and the sum of the sizes. */
export interface SecretMemoryProtection {
  readonly kind: 'memfd_secret' | 'anonymous';
  readonly bytes: number;
  readonly locked: boolean;
  /** Left out of core dumps. */
  readonly undumped: boolean;
}
