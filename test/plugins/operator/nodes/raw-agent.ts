import { readFileSync } from 'node:fs';
import * as grpc from '@grpc/grpc-js';
import type { ChannelRig } from './channel-rig.ts';

export interface RawAnswer {
  readonly code: keyof typeof grpc.status;
  readonly details: string;
  /** As it came. */
  readonly bytes: Buffer | undefined;
}

/** An agent of node-1 that sends whatever bytes it likes. */
export interface RawAgent {
  send(bytes: Uint8Array): Promise<RawAnswer>;
  close(): void;
}

export function rawAgent({ address, tls, tokenOf }: ChannelRig): RawAgent {
  const [ca, key, cert] = [tls.caPath, tls.keyPath, tls.certPath].map((path) => readFileSync(path));
  const credentials = grpc.credentials.createSsl(ca ?? null, key, cert);
  const client = new grpc.Client(`${address.host}:${address.port}`, credentials, {
    'grpc.ssl_target_name_override': 'localhost',
    'grpc.use_local_subchannel_pool': 1,
  });
  const metadata = new grpc.Metadata();
  metadata.set('authorization', `Bearer ${readFileSync(tokenOf('node-1'), 'utf8').trim()}`);
  const same = (bytes: Buffer): Buffer => bytes;
  return {
    send: (bytes) =>
      new Promise((resolve) => {
        const path = '/svc.operator.v1.NodeChannel/ReportNode';
        client.makeUnaryRequest(
          path,
          same,
          same,
          Buffer.from(bytes),
          metadata,
          { deadline: Date.now() + 30_000 },
          (error, answer) => {
            const code = error === null ? 'OK' : (grpc.status[error.code] as keyof typeof grpc.status);
            resolve({ code, details: error?.details ?? '', bytes: answer });
          },
        );
      }),
    close: () => client.close(),
  };
}
