import type { Socket } from 'node:net';
import type Grpc from '@grpc/grpc-js';
import type { Calls, Identity, RegisterAnswer, RegisterMessage } from './calls.ts';
import { asRefusal, givenUp } from './refusal.ts';
import type { ReportMessage } from './report.ts';

export interface Protocol {
  readonly grpc: typeof Grpc;
  readonly service: Grpc.ServiceDefinition;
}

/** A message is below 300 bytes, and a caller makes one call after the other. */
const bounds = {
  'grpc.max_receive_message_length': 65_536,
  'grpc.max_concurrent_streams': 4,
  'grpc-node.max_session_memory': 10,
  'grpc.enable_channelz': 0,
};

/**
 * Serves one connection with a server of its own: whose calls they are is then beyond mistake. It costs 0.1 ms.
 * @param socket of which nothing was read yet
 * @returns ends the connection once its calls are answered
 */
export function serveConnection(
  socket: Socket,
  identity: Identity,
  calls: Calls,
  { grpc, service }: Protocol,
): () => void {
  const server = new grpc.Server(bounds);
  server.addService(service, {
    Register: unary<RegisterMessage, RegisterAnswer>(grpc, (message, asker) =>
      calls.register(identity, message, asker),
    ),
    Report: unary<ReportMessage, object>(grpc, async (message) => {
      calls.report(identity, message);
      return {};
    }),
  });
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  injector.injectConnection(socket);
  return () => injector.destroy();
}

/** @param answer its signal is aborted when the caller has ended the call, or its time is over */
function unary<Request, Answer>(
  grpc: typeof Grpc,
  answer: (message: Request, asker: AbortSignal) => Promise<Answer>,
): Grpc.handleUnaryCall<Request, Answer> {
  return async (call, reply) => {
    try {
      reply(null, await answer(call.request, askerOf(call)));
    } catch (error) {
      const { status, message } = asRefusal(error);
      reply({ code: grpc.status[status], details: message });
    }
  };
}

function askerOf<Request, Answer>(call: Grpc.ServerUnaryCall<Request, Answer>): AbortSignal {
  const asker = new AbortController();
  const abort = () => asker.abort(givenUp());
  if (call.cancelled) abort();
  else call.once('cancelled', abort);
  return asker.signal;
}
