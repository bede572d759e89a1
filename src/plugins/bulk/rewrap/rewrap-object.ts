import {
  type Envelope,
  type ObjectName,
  readEnvelope,
  type WrappedKeys,
} from '../../../objects/format/metadata.ts';
import type { RewrapRecords } from '../../../objects/keys/rewrapped-keys.ts';
import type { Manifests } from '../../../objects/multipart/manifest-store.ts';
import { s3Error } from '../../../objects/s3/error.ts';
import { refusal, type Upstream, type UpstreamResponse } from '../../../objects/upstream/upstream.ts';
import type { StoredEntry } from '../engine/list-objects.ts';
import { hasPlainAcl } from '../engine/object-acl.ts';
import { copyOntoItself, lossByCopy, relistParts, rewrappedHeaders, type SelfCopy } from './self-copy.ts';
import { oldestOf, recordedKeys, type StoredKeys, storedKeys, wrapAll } from './stored-keys.ts';
import type { TargetKeys } from './target-keys.ts';

/** Dependencies and options for rewrapping one object. */
export interface RewrapTools {
  readonly bucket: string;
  readonly upstream: Upstream;
  readonly manifests: Pick<Manifests, 'find'>;
  readonly records: RewrapRecords;
  readonly target: TargetKeys;
  /** False: new keys go into records only. */
  readonly intoHeaders: boolean;
  /** Keys that are already in a record are moved into the headers if possible. */
  readonly outOfRecords: boolean;
  readonly dryRun: boolean;
}

/** A transit key and the version without which an object cannot be read. */
export interface NeededKey {
  readonly keyName: string;
  /** The oldest version that any of the object's keys needs. */
  readonly keyVersion: number;
}

export type Rewrapped =
  | { readonly as: 'gone' | 'unencrypted' }
  | {
      /** `pending`: found by a dry run to need rewrapping. */
      readonly as: 'current' | 'copied' | 'recorded' | 'pending';
      readonly needs: NeededKey;
      /** Why the keys are in a record and not in the headers. */
      readonly because?: string;
    };

/** Objects that are replaced more often than this would keep a run from ever ending. */
const maxAttempts = 8;

/**
 * Wraps the keys of one object or version by the target key. Keys that already are stay unchanged, so a run can start
 * over at any time.
 * @throws EnvelopeError, VaultError, S3Error
 */
export async function rewrapObject(
  tools: RewrapTools,
  { key, versionId }: StoredEntry,
  signal: AbortSignal,
): Promise<Rewrapped> {
  const name = { bucket: tools.bucket, key };
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const headers = await head(tools.upstream, name, versionId, signal);
    if (headers === undefined) return { as: 'gone' };
    const envelope = readEnvelope(headers);
    if (envelope === undefined) return { as: 'unencrypted' };
    const result = await rewrapOnce(tools, name, { headers, envelope, versionId }, signal);
    if (result !== 'changed') return result;
  }
  throw s3Error(
    'OperationAborted',
    `The object was replaced ${maxAttempts} times while its keys were wrapped.`,
  );
}

async function head(
  upstream: Upstream,
  name: ObjectName,
  versionId: string | undefined,
  signal: AbortSignal,
): Promise<UpstreamResponse['headers'] | undefined> {
  const query: [string, string][] = versionId === undefined ? [] : [['versionId', versionId]];
  const response = await upstream.send({ method: 'HEAD', ...name, query, signal });
  if (response.status === 404) {
    response.body.resume();
    return undefined;
  }
  if (response.status !== 200) throw await refusal(response);
  response.body.resume();
  return response.headers;
}

interface Found {
  readonly headers: UpstreamResponse['headers'];
  readonly envelope: Envelope;
  readonly versionId: string | undefined;
}

async function rewrapOnce(
  tools: RewrapTools,
  name: ObjectName,
  found: Found,
  signal: AbortSignal,
): Promise<Rewrapped | 'changed'> {
  const { target, records } = tools;
  const { envelope } = found;
  const stored = await storedKeys(tools.manifests, name, envelope);
  const needs = {
    keyName: envelope.keyName,
    keyVersion: oldestOf(stored.items.map(({ wrapped }) => wrapped)),
  };
  const inHeaders = { items: stored.items, recorded: false };
  if (await target.isCurrent(name, envelope, inHeaders, signal)) return { as: 'current', needs };
  const record = await records.use(name, stored.id, async (found) => found);
  const recorded = recordedKeys(record, stored);
  if (record !== undefined && recorded !== undefined) {
    const { keyName } = record;
    const scheme = { keyName, binding: envelope.binding };
    const needsNow = { keyName, keyVersion: oldestOf(recorded.map(({ wrapped }) => wrapped)) };
    const stays = !tools.outOfRecords || found.versionId !== undefined;
    if (stays && (await target.isCurrent(name, scheme, { items: recorded, recorded: true }, signal)))
      return { as: 'current', needs: needsNow };
    const isOfOtherMount = keyName === target.keyName && needsNow.keyVersion >= target.keyVersion;
    if (tools.dryRun) return { as: 'pending', needs: isOfOtherMount ? needs : needsNow };
  }
  if (tools.dryRun) return { as: 'pending', needs };
  return write(tools, name, found, stored, signal);
}

async function write(
  tools: RewrapTools,
  name: ObjectName,
  found: Found,
  stored: StoredKeys,
  signal: AbortSignal,
): Promise<Rewrapped | 'changed'> {
  const { target, records } = tools;
  const { keyName } = target;
  const keys = await wrapAll(target, name, found.envelope, stored, signal);
  const needs = { keyName, keyVersion: oldestOf(Object.values(keys)) };
  const headers = await headersFor(tools, name, found, stored, keys, signal);
  if (typeof headers !== 'string') {
    const copied = await copyOntoItself(tools.upstream, { name, headers: found.headers }, headers, signal);
    return copied ? { as: 'copied', needs } : 'changed';
  }
  await records.save({ ...name, keyName, keys }, stored.id);
  return { as: 'recorded', needs, because: headers };
}

/** The headers with the new keys, or the reason why they cannot be set. */
async function headersFor(
  { upstream, intoHeaders, target }: RewrapTools,
  name: ObjectName,
  { headers, envelope, versionId }: Found,
  stored: StoredKeys,
  keys: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Record<string, string> | string> {
  if (!intoHeaders || versionId !== undefined) return 'records';
  if (envelope.keys.form === 'pointer') return 'its part list is in a manifest';
  const loss = lossByCopy(headers);
  if (loss !== undefined) return loss;
  const wrapped = await wrappedKeys(target, name, envelope, stored, keys, signal);
  if (wrapped === undefined) return 'a checksum of a later version';
  const copy: SelfCopy = {
    ...{ name, headers, envelope, keyName: target.keyName, keys: wrapped },
    keyVersion: oldestOf([keys['object'] ?? keys['seal'] ?? '']),
  };
  const all = rewrappedHeaders(copy);
  if (all === undefined) return 'no room in its metadata';
  return (await hasPlainAcl(upstream, name, signal)) ? all : 'its ACL';
}

async function wrappedKeys(
  target: TargetKeys,
  name: ObjectName,
  envelope: Envelope,
  { list, items }: StoredKeys,
  keys: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<WrappedKeys | undefined> {
  if (list === undefined) return { form: 'single', dek: keys['object'] as string };
  const [seal] = items;
  const relist = ([sealKey]: readonly Buffer[]) => relistParts(list, keys, sealKey as Buffer);
  const again = await target.open(name, envelope, [seal], relist, signal);
  return again && { form: 'inline', list: again };
}
