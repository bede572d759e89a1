import { JsonView } from '../runtime/bounds/json-view.ts';
import { crossOutOpaque, errorsOf } from './answers.ts';
import type { Answered, VaultTransport } from './contract.ts';

export interface ByteRequest {
  readonly method: 'GET' | 'POST';
  /** Relative to `/v1/`, encoded. */
  readonly path: string;
  /** Parts of a JSON text. */
  readonly body?: readonly Uint8Array[];
  /** Called when the request is written. */
  readonly token?: () => Uint8Array;
}

/** An answer in memory that is zeroed after its use. */
export interface ByteReply extends Answered {
  readonly bytes: Buffer;
}

/** The key server for requests that have secrets or return them: no answer becomes a string. */
export interface ByteServer {
  /** @throws VaultError of kind `unavailable`, the signal's reason, or what `use` throws */
  ask<T>(request: ByteRequest, signal: AbortSignal, use: (reply: ByteReply) => T): Promise<T>;
}

/** A transport as such a server. Only the request's own token becomes text. */
export function byteServer(transport: VaultTransport): ByteServer {
  return {
    async ask({ method, path, body, token }, signal, use) {
      type Used = { readonly result: ReturnType<typeof use> };
      let used: Used | undefined;
      const read = (answer: Answered, bytes: Buffer) => {
        used = { result: use({ ...answer, bytes }) };
      };
      const sent = Buffer.concat(body ?? []);
      const given = token && { token: Buffer.from(token()).toString('latin1') };
      try {
        const answer = await transport.send({
          ...{ method, path, signal, ...given },
          bytes: { body: sent, read },
        });
        // nothing is read of an empty answer
        return (used as Used | undefined)?.result ?? use({ ...answer, bytes: Buffer.alloc(0) });
      } finally {
        sent.fill(0);
      }
    },
  };
}

/**
 * The server's error messages. Nothing else of the answer becomes a string.
 * @param secrets redacted if the server repeats one, like anything that looks random
 */
export function wordsOf({ bytes }: ByteReply, ...secrets: readonly Uint8Array[]): string[] {
  for (const secret of secrets) crossOut(bytes, secret);
  try {
    const view = new JsonView(bytes);
    const errors = view.at('errors');
    if (errors === undefined) return [];
    crossOutOpaque(bytes.subarray(errors.start, errors.end));
    return errorsOf(view);
  } catch {
    return [];
  }
}

function crossOut(bytes: Buffer, secret: Uint8Array): void {
  if (secret.length === 0) return;
  for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + secret.length)) {
    bytes.fill(0x2a, at, at + secret.length);
  }
}
