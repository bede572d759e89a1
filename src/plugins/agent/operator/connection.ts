import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP, isIPv6 } from 'node:net';
import { within } from '../../../runtime/lifecycle/wait.ts';
import { type OperatorAddress, ReportError, type TlsPaths } from './contract.ts';
import {
  type CallBounds,
  ClientTlsFiles,
  clientOpener,
  type OpenClient,
  type OperatorClient,
  type TlsMaterial,
} from './operator-client.ts';
import type { ReportReply } from './pending-reports.ts';

export interface ConnectionOptions {
  readonly address: OperatorAddress;
  readonly tls: TlsPaths;
  /** Read before each report. */
  readonly tokenPath?: string | undefined;
  /** Of one call, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborts calls in progress. */
  readonly signal: AbortSignal;
  /** Default: a DNS lookup. */
  readonly endpointsOf?: typeof endpointsOf;
}

interface Call {
  readonly message: object;
  readonly bounds: CallBounds;
}

/** The operator's own answers: another replica, or another connection, would give the same. */
const final = new Set(['invalid_argument', 'permission_denied', 'resource_exhausted', 'unauthenticated']);

/**
 * The connection to the operator. Stays with the replica that answers; when that one fails, tries all addresses of the
 * name in turn, each over a new connection with the current TLS files.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #files: ClientTlsFiles;
  #open: Promise<OpenClient> | undefined;
  #kept: { client: OperatorClient; tls: TlsMaterial } | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#files = new ClientTlsFiles(options.tls);
  }

  /** @throws ReportError */
  async report(message: object): Promise<ReportReply> {
    const { tokenPath, timeoutMs, signal } = this.#options;
    const tls = await this.#files.current();
    const token = tokenPath === undefined ? undefined : await readToken(tokenPath);
    const call = { message, bounds: { timeoutMs, signal, token } };
    try {
      return (await this.#overKept(call, tls)) ?? (await this.#overAny(call, tls));
    } catch (error) {
      throw explained(ReportError.from(error), tls);
    }
  }

  close(): void {
    this.#kept?.client.close();
    this.#kept = undefined;
  }

  async #overKept({ message, bounds }: Call, tls: TlsMaterial): Promise<ReportReply | undefined> {
    if (this.#kept?.tls !== tls) this.close();
    if (this.#kept === undefined) return undefined;
    try {
      return await this.#kept.client.report(message, bounds);
    } catch (error) {
      if (isFinal(error)) throw error;
      this.close();
      return undefined;
    }
  }

  async #overAny(call: Call, tls: TlsMaterial): Promise<ReportReply> {
    let failure: unknown;
    for (const endpoint of await this.#endpoints()) {
      this.#options.signal.throwIfAborted();
      try {
        return await this.#overNew(endpoint, call, tls);
      } catch (error) {
        if (isFinal(error)) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  async #overNew(endpoint: string, { message, bounds }: Call, tls: TlsMaterial): Promise<ReportReply> {
    const client = (await this.#opener())(endpoint, this.#options.address, tls);
    try {
      const reply = await client.report(message, bounds);
      this.#kept = { client, tls };
      return reply;
    } catch (error) {
      if (isFinal(error)) this.#kept = { client, tls };
      else client.close();
      throw error;
    }
  }

  #opener(): Promise<OpenClient> {
    this.#open ??= clientOpener();
    return this.#open;
  }

  #endpoints(): Promise<readonly string[]> {
    const { address, timeoutMs, signal } = this.#options;
    const lookUp = this.#options.endpointsOf ?? endpointsOf;
    const late = () => new ReportError('name_lookup', `the name ${address.host} was not looked up in time`);
    return within(lookUp(address), performance.now() + timeoutMs, signal, late);
  }
}

const isFinal = (error: unknown): boolean => error instanceof ReportError && final.has(error.result);

/** With an expired certificate the connection just ends, so the error is completed with the likely reason. */
function explained(error: ReportError, { expires }: TlsMaterial): ReportError {
  if (expires.getTime() > Date.now()) return error;
  const message = `the agent's certificate expired at ${expires.toISOString()}; ${error.message}`;
  return new ReportError(error.result, message, { cause: error.cause });
}

/** Reads the token anew: the kubelet replaces it before it expires. @throws ReportError token_file */
async function readToken(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new ReportError('token_file', `the token file cannot be used (${path}): ${cause.code}`, { cause });
  });
  const token = text.trim();
  if (/^[\w.-]+$/.test(token)) return token;
  throw new ReportError('token_file', `the token file cannot be used (${path}): there is no token in it`);
}

/** All IP addresses of the name, as gRPC targets: a headless Service has one for each replica. */
async function endpointsOf({ host, port }: OperatorAddress): Promise<readonly string[]> {
  const addresses = isIP(host) ? [host] : await addressesOf(host);
  return addresses.map((address) =>
    isIPv6(address) ? `ipv6:[${address}]:${port}` : `ipv4:${address}:${port}`,
  );
}

async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? '';
    throw new ReportError('name_lookup', `the name ${host} cannot be looked up (${code})`, { cause });
  }
}
