import type { AuthorityPlaces } from '../../../keyserver/settings.ts';
import type { TokenKnowledge } from '../../../keyserver/token-keeper.ts';
import type { MetricSamples } from '../../../runtime/health/plain-metrics.ts';
import type { Region } from '../../../runtime/native/memory.ts';
import type { SecretMemory, ShareableMemory } from '../../../runtime/native/secret-memory.ts';
import type { SecretMemoryProtection } from '../agent/agent-client.ts';
import type { RefusedSecrets } from '../keep.ts';

/** What one worker remembers for the next; none of it is secret. */
export interface WorkerMemory {
  /** In force since the start, and checked then: a place that the application makes later is not among them. */
  readonly authorities: AuthorityPlaces;
  readonly tokens: TokenKnowledge;
  /** Digest of the secrets in use. */
  readonly inUse: string;
  readonly refused: RefusedSecrets | undefined;
  /** Failures in a row. */
  readonly failures: number;
  /** False while the registration with a node agent is outstanding. */
  readonly registered: boolean;
  readonly secretMemory: SecretMemoryProtection | undefined;
  readonly metrics: MetricSamples;
  /** By condition, as `/healthz` shows it. */
  readonly degraded: Readonly<Record<string, string>>;
}

export interface WorkerState {
  /** The token in use. */
  readonly token: Uint8Array;
  /** The key of the digests. */
  readonly key: Uint8Array;
  readonly memory: WorkerMemory;
}

const lengths = 3;
const head = lengths * 4;

/** Writes the state into memory whose descriptor the caller hands to svc-init. */
export function writeState({ token, key, memory }: WorkerState, shareable: ShareableMemory): Region {
  const parts = [token, key, Buffer.from(JSON.stringify(memory))];
  const region = shareable.share(head + parts.reduce((sum, { length }) => sum + length, 0));
  let at = head;
  for (const [index, part] of parts.entries()) {
    region.bytes.writeUInt32LE(part.length, index * 4);
    region.bytes.set(part, at);
    at += part.length;
  }
  return region;
}

export interface TakenState {
  /** A copy in secret memory of its own. */
  readonly token: Region;
  readonly key: Buffer;
  readonly memory: WorkerMemory;
}

/** @throws RangeError or SyntaxError for a region that no wrapper wrote */
export function readState({ bytes }: Pick<Region, 'bytes'>, secret: SecretMemory): TakenState {
  const [tokenLength = 0, keyLength = 0, textLength = 0] = Array.from({ length: lengths }, (_, index) =>
    bytes.readUInt32LE(index * 4),
  );
  const end = head + tokenLength + keyLength + textLength;
  if (tokenLength === 0 || end > bytes.length) throw new RangeError('The state of the wrapper is not whole');
  const memory = JSON.parse(bytes.toString('utf8', end - textLength, end)) as WorkerMemory;
  const token = secret.allocate(tokenLength);
  bytes.copy(token.bytes, 0, head, head + tokenLength);
  const key = Buffer.from(bytes.subarray(head + tokenLength, head + tokenLength + keyLength));
  return { token, key, memory };
}

/** Writes VAULT_TOKEN for a worker that makes the first pass. */
export function writeToken(token: Uint8Array, shareable: ShareableMemory): Region {
  const region = shareable.share(4 + token.length);
  region.bytes.writeUInt32LE(token.length);
  region.bytes.set(token, 4);
  return region;
}

/** The token that `writeToken` wrote, as a copy in secret memory of its own. @throws RangeError */
export function readToken({ bytes }: Pick<Region, 'bytes'>, secret: SecretMemory): Region {
  const length = bytes.readUInt32LE();
  if (length > bytes.length - 4) throw new RangeError('The token of the wrapper is not whole');
  const token = secret.allocate(length);
  bytes.copy(token.bytes, 0, 4, 4 + length);
  return token;
}
