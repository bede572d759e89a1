import {
  constants,
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { MethodDefinition } from '@grpc/grpc-js';
import type { Budget } from '../../../runtime/bounds/budget.ts';
import { loadProtoService } from '../../../runtime/net/load-proto.ts';
import { frame, numberOfStatus } from '../../../runtime/protocols/grpc.ts';
import { IncomingReport, ReportPlaces, smallReport } from './incoming-report.ts';
import { limitFrames } from './limit-frames.ts';
import { type NodeReportMessage, type NodeReportReply, ReportRefused } from './read-report.ts';
import type { Caller, ReportHandler } from './report-endpoint.ts';

export interface GrpcEndpoint {
  /**
   * Serves a connection whose certificate was verified.
   * @param begin called with each call; false if the connection is being closed
   */
  serve(socket: TLSSocket, begin: (call: ServerHttp2Stream) => boolean): void;
  /** Ends all connections once their pending requests are answered, within `graceMs`. */
  retire(graceMs: number): void;
}

export interface GrpcEndpointOptions {
  /** Gets the reports, as bytes. */
  readonly answer: ReportHandler;
  /** Of reports that are longer than a window. */
  readonly memory: Budget;
  /** Called with the address of an agent that sent cheap frames without end; all its connections are ended. */
  readonly onFlood?: (peer: string) => void;
}

/**
 * An agent sends one report at a time, and breaks one off only if its answer is late. The window is what a connection can make this side hold before a report has its
 * place. gRPC's own server leaves it at 64 KiB for each stream.
 */
const options = {
  settings: {
    maxConcurrentStreams: 1,
    initialWindowSize: smallReport,
    maxHeaderListSize: 16_384,
    headerTableSize: 4_096,
    enablePush: false,
  },
  /** MB, the unit that Node has for it. */
  maxSessionMemory: 1,
  maxHeaderListPairs: 32,
  maxSettings: 16,
  streamResetBurst: 10,
  streamResetRate: 1,
  maxSessionRejectedStreams: 10,
  maxSessionInvalidFrames: 10,
};

/**
 * Reports of a connection that begin before anything else is done: what was broken off just before, and its repetition.
 * The bound on those broken off only holds from the next packet on, and one packet has hundreds of them.
 */
const maxBegunAtOnce = 2;

/** Milliseconds: agents report every 15 s, or every minute where there are many. */
const silentMs = 180_000;

const path = '/svc.operator.v1.NodeChannel/ReportNode';

type Method = MethodDefinition<NodeReportMessage, NodeReportReply>;

/** Loads the schema. */
export async function createGrpcEndpoint({
  answer,
  memory,
  onFlood,
}: GrpcEndpointOptions): Promise<GrpcEndpoint> {
  const service = await loadProtoService('svc/operator/v1/node_channel.proto', 'svc.operator.v1.NodeChannel');
  const { requestDeserialize, responseSerialize } = service['ReportNode'] as Method;
  const places = new ReportPlaces(memory);
  /** With their peers. */
  const sessions = new Map<ServerHttp2Session, string>();
  const endOf = (flooding: string) => {
    for (const [session, peer] of sessions) if (peer === flooding) session.destroy();
    onFlood?.(flooding);
  };
  const respond = async (stream: ServerHttp2Stream, caller: Caller) => {
    const report = new IncomingReport(stream, places, caller.peer, (why) => {
      fail(stream, why);
      stream.close(constants.NGHTTP2_CANCEL);
    });
    try {
      succeed(stream, responseSerialize(await answer(() => report.read(), requestDeserialize, caller)));
    } catch (error) {
      fail(stream, error);
    } finally {
      report.end();
    }
  };
  return {
    serve(socket, begin) {
      const identity = identityOf(socket);
      const session = performServerHandshake(
        limitFrames(socket, () => endOf(identity.peer)),
        options,
      );
      sessions.set(session, identity.peer);
      // the timeout of Node's own sessions outlives them, and keeps all that they held until it has passed
      const silent = setTimeout(() => session.destroy(), silentMs).unref();
      session
        // agents may break off at any time
        .on('error', () => {})
        .on('close', () => {
          sessions.delete(session);
          clearTimeout(silent);
        });
      const isTooFast = limitPerTurn(maxBegunAtOnce);
      session.on('stream', (stream, headers) => {
        if (isTooFast()) return session.destroy();
        silent.refresh();
        stream.on('error', () => session.destroy());
        if (!begin(stream)) return;
        if (headers[':path'] === path) void respond(stream, { ...identity, token: tokenOf(headers) });
        else fail(stream, new ReportRefused('UNIMPLEMENTED', 'there is no such method'));
      });
    },
    retire(graceMs) {
      const former = [...sessions.keys()];
      for (const session of former) session.close();
      const late = () => {
        for (const session of former) session.destroy();
      };
      setTimeout(late, graceMs).unref();
    },
  };
}

/** Says whether it is called more often than that in one turn of the event loop. */
function limitPerTurn(most: number): () => boolean {
  let count = 0;
  return () => {
    if (count === 0) {
      setImmediate(() => {
        count = 0;
      });
    }
    count += 1;
    return count > most;
  };
}

/** Kept in place of the certificate, which takes more memory. */
function identityOf(socket: TLSSocket): Omit<Caller, 'token'> {
  const { subjectaltname, valid_to } = socket.getPeerCertificate();
  return { names: subjectaltname, expires: new Date(valid_to), peer: socket.remoteAddress ?? '' };
}

function tokenOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^Bearer (\S+)$/.exec(authorization)?.[1];
}

const responseHeaders = { ':status': 200, 'content-type': 'application/grpc' };

function succeed(stream: ServerHttp2Stream, reply: Uint8Array): void {
  if (stream.closed || stream.headersSent) return;
  stream.respond(responseHeaders, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(frame(reply));
}

/** What is left of the report is discarded: some clients look at an answer only once they have sent everything. */
function fail(stream: ServerHttp2Stream, error: unknown): void {
  if (stream.closed || stream.headersSent) return;
  const { status, message } =
    error instanceof ReportRefused ? error : new ReportRefused('INTERNAL', 'an internal error');
  const fields = { 'grpc-status': numberOfStatus(status), 'grpc-message': encodeURI(message) };
  stream.respond({ ...responseHeaders, ...fields }, { endStream: true });
  stream.resume();
}
