import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as grpc from '@grpc/grpc-js';
import * as loader from '@grpc/proto-loader';
import { temporaryFolder } from './temporary.ts';

const PROTO = fileURLToPath(new URL('../../proto/svc/agent/v1/node_agent.proto', import.meta.url));

/** A message as proto-loader gives it: 64-bit numbers and enums as text, absent optional fields absent. */
export type AgentMessage = Readonly<Record<string, unknown>>;

/** `hang` never answers. */
export type AgentAnswer =
  | { readonly tier: string; readonly enforcing: boolean; readonly reason?: string }
  | { readonly code: keyof typeof grpc.status; readonly details: string }
  | 'hang';

export interface AgentRequest {
  readonly method: 'Register' | 'Report';
  readonly message: AgentMessage;
}

export interface TestNodeAgent {
  /** As `SVC_EBPF_AGENT_ADDR` takes it. */
  readonly address: string;
  readonly requests: readonly AgentRequest[];
  /** What Register is answered from now on; by default tier 1, enforcing. */
  answer: AgentAnswer;
  /** Gets each Register request before it is answered. */
  onRegister?: (message: AgentMessage) => void;
  stop(): Promise<void>;
}

export interface TestNodeAgentOptions {
  /** Default: a socket in a folder of its own. */
  readonly address?: string;
  readonly answer?: AgentAnswer;
}

const AGENT_VERSION = '9.8.7-test';

/** Where an agent can be started later. */
export function agentAddress(): { address: string; remove(): Promise<void> } {
  const folder = temporaryFolder('agent');
  return { address: `unix://${join(folder.path, 'agent.sock')}`, remove: folder.remove };
}

/** Serves the schema's NodeAgent on a Unix socket with grpc-js, whoever calls. */
export async function startNodeAgent(options: TestNodeAgentOptions = {}): Promise<TestNodeAgent> {
  const own = options.address === undefined ? agentAddress() : undefined;
  const address = options.address ?? (own?.address as string);
  const requests: AgentRequest[] = [];
  const server = new grpc.Server();
  const agent: TestNodeAgent = {
    address,
    requests,
    answer: options.answer ?? { tier: 'TIER_LSM', enforcing: true },
    async stop() {
      server.forceShutdown();
      await own?.remove();
    },
  };
  server.addService(nodeAgentService(), {
    Register: (call: grpc.ServerUnaryCall<AgentMessage, AgentMessage>, reply: SendReply) => {
      requests.push({ method: 'Register', message: call.request });
      agent.onRegister?.(call.request);
      answerWith(agent.answer, reply);
    },
    Report: (call: grpc.ServerUnaryCall<AgentMessage, AgentMessage>, reply: SendReply) => {
      requests.push({ method: 'Report', message: call.request });
      reply(null, {});
    },
  });
  await new Promise((resolve, reject) => {
    const done = (error: Error | null, port: number) => (error ? reject(error) : resolve(port));
    server.bindAsync(address, grpc.ServerCredentials.createInsecure(), done);
  });
  return agent;
}

type SendReply = (error: Partial<grpc.StatusObject> | null, value?: AgentMessage) => void;

function answerWith(answer: AgentAnswer, reply: SendReply): void {
  if (answer === 'hang') return;
  if ('code' in answer) reply({ code: grpc.status[answer.code], details: answer.details });
  else reply(null, { registered_pid: 4711, agent_version: AGENT_VERSION, ...answer });
}

function nodeAgentService(): grpc.ServiceDefinition {
  const definition = loader.loadSync(PROTO, { keepCase: true, longs: String, enums: String });
  return definition['svc.agent.v1.NodeAgent'] as grpc.ServiceDefinition;
}
