import { exitStatus, SvcError } from '../../../core/errors.ts';
import { socketName } from '../../../core/grpc/unix-address.ts';
import { ProtobufError } from '../../../core/protobuf/protobuf-error.ts';
import { GrpcError } from '../../../runtime/grpc/grpc-error.ts';
import type { Acknowledgement } from './messages.ts';

/** What another attempt may mend: an agent that is away, starting, overloaded or being replaced. */
export function isRetryable(error: unknown): boolean {
  return error instanceof GrpcError && !(error.status in verdicts);
}

/**
 * What the agent's answer means for the wrapper; what is no answer of an agent is passed on as it is.
 * - AGENT_UNAVAILABLE, exit 69: nobody answered in time
 * - AGENT_INCOMPATIBLE, exit 69: something answered that is no agent of this schema
 * - AGENT_REFUSED, exit 77: the agent judged the caller and will not protect it
 * - AGENT_POD_UNKNOWN, exit 78: the pod's UID is no UID
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
      'is no node agent that this wrapper can talk to',
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
      "does not take this for a pod's UID",
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
 * Exit 71 as for memory locks that are required and not to be had: nobody denied this caller anything (77), the
 * node cannot give the protection.
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
