import { chmodSync, lstatSync, mkdirSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { exitStatus, messageOf, SvcError } from '../../../runtime/errors.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { loadProtoService } from '../../../runtime/net/load-proto.ts';
import type { ProtectionReport } from '../../../runtime/protocols/protection/report.ts';
import type { Guard, ProtectedProcess } from '../guard/contract.ts';
import { Acceptor, type AcceptorBounds } from './acceptor.ts';
import { type ReadCgroups, readCgroups } from './caller.ts';
import { createCalls, type OnProtected } from './calls.ts';
import { createProtecting } from './protecting.ts';
import { registrationMetrics } from './refusal.ts';
import { Registry } from './registry.ts';

export interface RegistrationOptions {
  readonly socketPath: string;
  readonly guard: Guard;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Of the agent. */
  readonly version: string;
  /** Called when a new process has registered, or a process has reported. */
  readonly onChange?: () => void;
  readonly bounds?: AcceptorBounds;
  /** How long a connection lives, in milliseconds: a wrapper makes one call on each, and waits 5 s for the answer. */
  readonly lifetimeMs?: number;
  /** How long work for a process that has given up continues, in case it asks again, in milliseconds. */
  readonly keepMs?: number;
  readonly readCgroups?: ReadCgroups;
  /** Called before a registration or report is answered. */
  readonly onProtected?: OnProtected;
}

/** The running server that wrappers call. */
export interface RegistrationServer {
  /** In the form that `SVC_EBPF_AGENT_ADDR` takes. */
  readonly address: string;
  /** The newest report of each process that still exists. */
  reports(): readonly ProtectionReport[];
  /** The processes that registered or reported with this agent and still exist. */
  registered(): readonly ProtectedProcess[];
  /** Accepts no more callers, answers the present ones, and removes the socket. */
  close(): Promise<void>;
}

const usualBounds: AcceptorBounds = { perProcess: 16, total: 256 };
const usualLifetimeMs = 10_000;

/**
 * Serves proto/svc/agent/v1 on a Unix socket.
 * @throws SvcError of `listenAt`
 */
export async function startRegistration(options: RegistrationOptions): Promise<RegistrationServer> {
  const { socketPath, guard, log, metrics, version } = options;
  const registry = new Registry(guard);
  const count = registrationMetrics(metrics);
  const protecting = createProtecting(guard, options.keepMs);
  const calls = createCalls({
    ...{ guard, protecting, log, count, registry, version },
    readCgroups: options.readCgroups ?? readCgroups,
    onChange: options.onChange ?? (() => {}),
    onProtected: options.onProtected ?? (() => {}),
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

const folderMode = 0o755;
/** Wrappers of every user may call: callers are judged by what the kernel says about them. */
const socketMode = 0o666;

/**
 * Makes a server listen on a Unix socket that everybody may use, replacing one that a dead agent left behind. The
 * replacement is atomic: callers find either the old socket or this one, ready.
 * @returns a function that removes the socket's file, unless another agent has put its own there
 * @throws SvcError AGENT_SOCKET_IN_USE (exit 69), AGENT_SOCKET_TAKEN (78), AGENT_SOCKET_FAILED (71)
 */
export async function listenAt(path: string, server: Server): Promise<() => void> {
  try {
    makeFolder(dirname(path));
    if (isSocket(path) && (await isAnswered(path))) throw inUse(path);
    const inode = await place(path, server);
    return () => removeOwn(path, inode);
  } catch (error) {
    throw error instanceof SvcError ? error : failed(path, error);
  }
}

function makeFolder(path: string): void {
  // the umask reduces the mode given to mkdir
  if (mkdirSync(path, { recursive: true }) !== undefined) chmodSync(path, folderMode);
}

/** Binds under another name and renames, so that the socket never appears with another mode or without a listener. */
async function place(path: string, server: Server): Promise<Stats> {
  const temporary = join(dirname(path), `.${process.pid}`);
  if (isSocket(temporary)) unlinkSync(temporary);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ path: temporary }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  chmodSync(temporary, socketMode);
  const inode = lstatSync(temporary);
  isSocket(path);
  renameSync(temporary, path);
  return inode;
}

/** False if nothing is there. @throws SvcError AGENT_SOCKET_TAKEN */
function isSocket(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (found.isSocket()) return true;
  throw new SvcError('AGENT_SOCKET_TAKEN', `${path} exists already and is not a socket`, {
    nextStep: 'Move it away, or give the agent another path in SVC_AGENT_SOCKET.',
    exitStatus: exitStatus.config,
  });
}

/** Whether somebody listens. A full queue of callers counts as an answer too. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    });
    probe.on('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    );
  });
}

function removeOwn(path: string, { dev, ino }: Stats): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.dev === dev && found.ino === ino) unlinkSync(path);
}

function inUse(path: string): SvcError {
  return new SvcError('AGENT_SOCKET_IN_USE', `Another node agent listens on ${path}`, {
    nextStep: 'Run one agent per node: stop the other, or give this one another path in SVC_AGENT_SOCKET.',
    exitStatus: exitStatus.unavailable,
  });
}

function failed(path: string, cause: unknown): SvcError {
  const why = messageOf(cause);
  return new SvcError('AGENT_SOCKET_FAILED', `The agent cannot listen on ${path}: ${why}`, {
    nextStep:
      'Give the agent a path of at most 90 bytes in a folder that it may write to (SVC_AGENT_SOCKET).',
    exitStatus: exitStatus.system,
    cause,
  });
}
