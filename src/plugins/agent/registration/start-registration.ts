import { createServer, type Server } from 'node:net';
import type { ProtectionReport } from '../../../core/protection/report.ts';
import { loadProtoService } from '../../../runtime/grpc/load-proto.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Guard, ProtectedProcess } from '../guard/contract.ts';
import { Acceptor } from './acceptor.ts';
import { listenAt } from './agent-socket.ts';
import { createCalls } from './calls.ts';
import type { ConnectionBounds } from './connection-limit.ts';
import { type ReadCgroups, readCgroups } from './pod.ts';
import { createProtecting } from './protecting.ts';
import { registrationMetrics } from './registration-metrics.ts';
import { Registry } from './registry.ts';

export interface RegistrationOptions {
  readonly socketPath: string;
  readonly guard: Guard;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Of the agent. */
  readonly version: string;
  /** Called when a process has registered that was not, or reported. */
  readonly onChange?: () => void;
  readonly bounds?: ConnectionBounds;
  /** How long a connection lives, in milliseconds: a wrapper makes one call on each, and waits 5 s for its answer. */
  readonly lifetimeMs?: number;
  /** How long a process that has given up is still being protected, for when it asks again, in milliseconds. */
  readonly keepMs?: number;
  readonly readCgroups?: ReadCgroups;
}

/** What wrappers call, being served. */
export interface Registration {
  /** Of the form that `SVC_EBPF_AGENT_ADDR` takes. */
  readonly address: string;
  /** The newest report of each process that is still there. */
  reports(): readonly ProtectionReport[];
  /** The processes that registered, or reported, with this agent, and are still there. */
  registered(): readonly ProtectedProcess[];
  /** Takes no more callers, answers those that are there, and removes the socket. */
  close(): Promise<void>;
}

const usualBounds: ConnectionBounds = { perProcess: 16, total: 256 };
const usualLifetimeMs = 10_000;

/**
 * Serves proto/svc/agent/v1 on a Unix socket.
 * @throws SvcError of `listenAt`
 */
export async function startRegistration(options: RegistrationOptions): Promise<Registration> {
  const { socketPath, guard, log, metrics, version } = options;
  const registry = new Registry(guard);
  const count = registrationMetrics(metrics);
  const protecting = createProtecting(guard, options.keepMs);
  const calls = createCalls({
    ...{ guard, protecting, log, count, registry, version },
    readCgroups: options.readCgroups ?? readCgroups,
    onChange: options.onChange ?? (() => {}),
  });
  const [{ default: grpc }, service] = await Promise.all([
    import('@grpc/grpc-js'),
    loadProtoService('svc/agent/v1/node_agent.proto', 'svc.agent.v1.NodeAgent'),
  ]);
  const { bounds = usualBounds, lifetimeMs = usualLifetimeMs } = options;
  const acceptor = new Acceptor({ guard, calls, protocol: { grpc, service }, bounds, lifetimeMs });
  const server = createServer((socket) => acceptor.accept(socket));
  const removeSocket = await listenAt(socketPath, server);
  server.on('error', (error) => log.error('registration.socket_failed', { error: error.message }));
  return {
    address: `unix://${socketPath}`,
    reports: () => registry.reports(),
    registered: () => registry.processes(),
    async close() {
      removeSocket();
      protecting.close();
      await closed(server, acceptor);
    },
  };
}

function closed(server: Server, acceptor: Acceptor): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    acceptor.end();
  });
}
