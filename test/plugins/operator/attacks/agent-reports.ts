import { connect } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { loadProtoService } from '../../../../src/runtime/net/load-proto.ts';
import { frame } from '../../../../src/runtime/protocols/grpc.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { announced, frameOf, headOf, opening } from '../nodes/frames.ts';
import type { LimitedOperator } from './limited-operator.ts';

/** Connections of agents, as many as the operator lets in. */
export interface AttackingAgents {
  /** Each sends so many reports, one after the other. @returns the statuses of all, by how often each came */
  report(times: number): Promise<ReadonlyMap<string, number>>;
  close(): void;
}

/** As long as that of each agent here. */
const anyName = 'node-000';

/** Of about a megabyte, the longest that is read. */
async function longReport(): Promise<(node: string) => Buffer> {
  const service = await loadProtoService('svc/operator/v1/node_channel.proto', 'svc.operator.v1.NodeChannel');
  const { requestSerialize } = service['ReportNode'] as { requestSerialize: (value: object) => Buffer };
  const pods = Array.from({ length: 950 }, (_, at) => ({
    podUid: `pod-${at}`,
    uncoveredReason: 'r'.repeat(1_000),
  }));
  const state = { tier: 'TIER_FULL', enforcing: true, reason: '', passedOver: [], pods };
  const report = { node: anyName, instance: 'i', bootId: 'b', agentVersion: '1', sequence: '1', state };
  const bytes = requestSerialize({ ...report, droppedHits: '0', hits: [] });
  const at = bytes.indexOf(anyName);
  return (node) => {
    const own = Buffer.from(bytes);
    own.write(node, at);
    return own;
  };
}

async function agentsCertificate(api: LimitedOperator['api']) {
  const path = '/api/v1/namespaces/svc-system/secrets/svc-agent-tls';
  const secret = await waitFor('the certificate of the agents', async () => api.get(path));
  const data = secret['data'] as Readonly<Record<string, string>>;
  const pem = (name: string) => Buffer.from(data[name] ?? '', 'base64');
  return { ca: pem('ca.crt'), cert: pem('tls.crt'), key: pem('tls.key') };
}

/** With what a connection needs to be let in. */
export async function addressForAgents({ api, operator }: Pick<LimitedOperator, 'api' | 'operator'>) {
  const [host, port] = String(operator.started['grpc']).split(':');
  const certificate = await agentsCertificate(api);
  return { ...certificate, host, port: Number(port), servername: 'svc-operator', ALPNProtocols: ['h2'] };
}

/** A report that was announced as the longest, of which as much has come as a window takes at first. */
const unfinished = Buffer.concat([
  ...[opening, headOf(1), frameOf('data', 1, Buffer.concat([announced(1_000_000), Buffer.alloc(16_000)]))],
  ...Array<Buffer>(3).fill(frameOf('data', 1, Buffer.alloc(16_000))),
]);

/** Agents that begin a report each, never end it, and connect again `pauseMs` after they are disconnected. Returns when half of them have begun. */
export async function holdAsAgents(
  { api, operator }: LimitedOperator,
  count: number,
  pauseMs: number,
): Promise<{ close(): void }> {
  const options = await addressForAgents({ api, operator });
  const sockets = new Set<TLSSocket>();
  let isOpen = true;
  const hold = (begun: () => unknown) => {
    const socket = connectTls(options);
    sockets.add(socket);
    socket
      .on('secureConnect', () => void socket.write(unfinished, begun))
      .on('error', () => {})
      .on('close', () => {
        sockets.delete(socket);
        begun();
        if (isOpen) setTimeout(() => isOpen && hold(begun), pauseMs);
      });
  };
  await new Promise<void>((resolve) => {
    let left = count / 2;
    for (const _ of Array.from({ length: count })) hold(() => --left === 0 && resolve());
  });
  return {
    close() {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
    },
  };
}

const maxReportMs = 30_000;

/** Connects with the certificate that the operator has made for its agents, each as the agent of a node of its own. */
export async function attackAsAgents(
  { api, operator }: LimitedOperator,
  count: number,
): Promise<AttackingAgents> {
  const { ca, cert, key } = await agentsCertificate(api);
  const reportOf = await longReport();
  const agents = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const node = `node-${String(index).padStart(3, '0')}`;
      const report = frame(reportOf(node));
      const session = connect(`https://${operator.started['grpc']}`, {
        ca,
        cert,
        key,
        servername: 'svc-operator',
      } as object);
      session.on('error', () => {});
      const send = () =>
        new Promise<string>((resolve) => {
          if (session.closed || session.destroyed) return resolve('closed');
          const stream = session.request({
            ...{ ':method': 'POST', ':path': '/svc.operator.v1.NodeChannel/ReportNode' },
            ...{
              'content-type': 'application/grpc',
              te: 'trailers',
              authorization: `Bearer token.of.${node}`,
            },
          });
          let status = 'closed';
          const look = (headers: object) => {
            status = String(Reflect.get(headers, 'grpc-status') ?? status);
          };
          stream
            .on('response', look)
            .on('trailers', look)
            .on('error', () => {});
          // a session that does not read, since it waits to write, never learns that it was reset
          const late = setTimeout(() => {
            resolve(status);
            session.destroy();
          }, maxReportMs);
          stream
            .on('close', () => {
              clearTimeout(late);
              resolve(status);
            })
            .resume();
          stream.end(report, () => {});
        });
      return { session, send };
    }),
  );
  return {
    async report(times) {
      const statuses = new Map<string, number>();
      const work = agents.map(async ({ send }) => {
        for (let left = times; left > 0; left--) {
          const status = await send();
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      });
      await Promise.all(work);
      return statuses;
    },
    close() {
      for (const { session } of agents) session.destroy();
    },
  };
}
