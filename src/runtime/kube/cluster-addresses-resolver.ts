import { Resolver } from 'node:dns/promises';

/** What DNS says of a name now. */
export interface NameAnswer {
  readonly addresses: readonly string[];
  /** Not all could be asked: there may be more than these. */
  readonly failed: boolean;
}

/** All addresses of a name, IPv4 and IPv6; rejects only with the reason of the signal. */
export type NameResolver = (host: string, signal: AbortSignal) => Promise<NameAnswer>;

const notThere: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

/**
 * Answers within about ten seconds, whatever the name servers do.
 * @param servers `address:port`; default: those of this machine
 */
export function systemResolver(servers?: readonly string[]): NameResolver {
  return async (host, signal) => {
    signal.throwIfAborted();
    const resolver = new Resolver({ timeout: 2_500, tries: 2, maxTimeout: 5_000 });
    if (servers !== undefined) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    signal.removeEventListener('abort', cancel);
    signal.throwIfAborted();
    return {
      addresses: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
      failed: answers.some((answer) => answer.status === 'rejected' && !notThere.has(answer.reason?.code)),
    };
  };
}
