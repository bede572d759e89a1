import { connect } from 'node:net';
import type { CheckResult } from '../../../contract.ts';
import { failed, passed } from '../../../results.ts';

const attemptMs = 5_000;

/** Opens a TCP connection from here, and closes it again. */
export async function connects(address: URL, signal: AbortSignal): Promise<CheckResult> {
  const subject = `${address.hostname}:${portOf(address)}`;
  const refusal = await refusalAt(address, signal);
  return refusal === undefined ? passed(subject) : failed({ subject, message: `No connection: ${refusal}.` });
}

/** @returns why a connection cannot be had, such as ECONNREFUSED */
function refusalAt(url: URL, signal: AbortSignal): Promise<string | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({ host, port: portOf(url), timeout: attemptMs });
    const end = (refusal: string | undefined) => {
      socket.destroy();
      resolve(refusal);
    };
    socket.once('connect', () => end(undefined));
    socket.once('timeout', () => end('no answer in time'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    signal.addEventListener('abort', () => end('no answer in time'), { once: true });
  });
}

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));
