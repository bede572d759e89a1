import { randomBytes } from 'node:crypto';
import { dataOf, isRecord } from '../../../../keyserver/answers.ts';
import { failureOf } from '../../../../keyserver/contract.ts';
import { vaultPath } from '../../../../keyserver/path.ts';
import { mountIn, mountRequest, placeIn, segmentsOf } from '../../../../keyserver/secret-client/kv.ts';
import {
  type CheckContext,
  type CheckFailure,
  failed,
  NothingNamed,
  passed,
  shared,
  skipped,
  type VaultQuery,
  type VaultSession,
  verdict,
} from '../../check.ts';
import { vaultCheck } from '../../make-check.ts';
import { forProxy, forWrapper } from './server.ts';

export interface KvPlaces {
  readonly places: readonly KvPlace[];
  /** Paths that do not exist. */
  readonly failures: readonly CheckFailure[];
}

/** @throws NothingNamed if the settings name no paths for a wrapper */
async function namedPlaces(context: CheckContext): Promise<KvPlaces> {
  if (context.config.secretPaths === undefined || !forWrapper(context.config))
    throw new NothingNamed('skipped', 'No KV paths are named: give --secrets or SVC_SECRET_PATHS.');
  return kvPlaces(context);
}

/** Mounts of the settings' paths, as far as the login may see them. */
export const kvPlaces = shared(async (context): Promise<KvPlaces> => {
  const session = await (await context.vault()).workload();
  const places: KvPlace[] = [];
  const failures: CheckFailure[] = [];
  for (const given of context.config.secretPaths ?? []) {
    const place = await kvPlace(session, given, context.signal);
    if (typeof place === 'string') failures.push({ subject: given, message: place });
    else places.push(place);
  }
  return { places, failures };
});

export const kvReadable = vaultCheck('SVC-VAULT-011', 'error', {
  title: 'Every KV path exists and can be read',
  cause:
    'The path is mistyped, nothing was written there, its last version was deleted, or the policy does not permit read.',
  fix: 'Write the secret, or grant read on the path (in KV version 2 on <mount>/data/<name>).',
  async run(vault, context, signal) {
    const { places, failures } = await namedPlaces(context);
    const session = await vault.workload();
    const unreadable = await Promise.all(places.map((place) => lookAt(session, place, signal)));
    return verdict([...failures, ...unreadable.flat()]);
  },
});

/** The response contains a secret and is not examined. */
async function lookAt(
  session: VaultSession,
  { given, readPath }: KvPlace,
  signal: AbortSignal,
): Promise<readonly CheckFailure[]> {
  const query: VaultQuery = { method: 'GET', path: vaultPath(readPath) };
  const answer = await session.ask(query, signal);
  if (answer.status === 200) return [];
  if (answer.status === 404) return [{ subject: given, message: 'Nothing is stored there.' }];
  const failure = failureOf(query, answer);
  if (failure.kind !== 'denied') throw failure;
  return [{ subject: given, message: `${failure.message}.` }];
}

export const kvVersion = vaultCheck('SVC-VAULT-012', 'info', {
  title: 'KV stores keep versions',
  cause: 'The store uses KV version 1: what is overwritten or deleted by mistake is gone.',
  fix: 'Upgrade it with bao kv enable-versioning <mount>; policies then need <mount>/data/<name>.',
  async run(_vault, context) {
    const { places } = await namedPlaces(context);
    if (places.length === 0) return skipped('None of the KV paths is found: see SVC-VAULT-011.');
    const old = new Set(places.filter(({ version }) => version === 1).map(({ mount }) => mount));
    return verdict([...old].map((subject) => ({ subject, message: 'It is of KV version 1.' })));
  },
});

/** A KV path of the settings, resolved at the secrets server. */
interface KvPlace {
  /** As given. */
  readonly given: string;
  /** Without leading or trailing slashes. */
  readonly mount: string;
  readonly version: 1 | 2;
  /** API path of the value, not encoded: `secret/data/app`. */
  readonly readPath: string;
}

function textAt(body: unknown, names: readonly string[]): string | undefined {
  const at = (found: unknown, name: string) => (isRecord(found) ? found[name] : undefined);
  const value = names.reduce<unknown>(at, body);
  return typeof value === 'string' ? value : undefined;
}

/** @returns the error if the server has no such store, or the login has no permission there */
async function kvPlace(session: VaultSession, given: string, signal: AbortSignal): Promise<KvPlace | string> {
  const segments = segmentsOf(given);
  const query: VaultQuery = mountRequest(segments);
  const answer = await session.ask(query, signal);
  if (answer.status === 403) return 'There is no such store, or the policy permits nothing there.';
  if (answer.status !== 200) throw failureOf(query, answer);
  const found = mountIn({ string: (...names) => textAt(answer.body, names) });
  if (found === undefined || !['kv', 'generic'].includes(found.type))
    return 'It is not in a key/value store.';
  const { path: mount, kvVersion: version } = found;
  const { apiPath } = placeIn(mount.split('/'), version, segments);
  return { given, mount, version, readPath: decodeURIComponent(apiPath) };
}

export const roundTrip = vaultCheck('SVC-VAULT-010', 'error', {
  title: 'The transit key exists, and the login can wrap and unwrap with it',
  cause:
    'The engine is mounted elsewhere, the key has another name, or the policy does not permit encrypt and decrypt.',
  fix: 'Create the key (bao write -f transit/keys/svc), set SVC_TRANSIT_MOUNT and SVC_TRANSIT_KEY, and grant update on encrypt and decrypt of it.',
  async run(vault, { config }, signal) {
    if (!forProxy(config)) return skipped('The identity is that of a wrapper, which uses no transit key.');
    const { transitMount, transitKey } = config;
    const session = await vault.workload();
    const plaintext = randomBytes(32).toString('base64');
    const post = (operation: string, body: object): VaultQuery => ({
      method: 'POST',
      path: vaultPath(transitMount, operation, transitKey),
      body,
    });
    const wrapped = await tryOperation(session, post('encrypt', { plaintext }), 'ciphertext', signal);
    if (wrapped.value === undefined) return failed(findingOf(wrapped));
    const back = await tryOperation(
      session,
      post('decrypt', { ciphertext: wrapped.value }),
      'plaintext',
      signal,
    );
    if (back.value === undefined) return failed(findingOf(back));
    if (back.value === plaintext) return passed();
    return failed({ subject: back.subject, message: 'It does not give back what was wrapped.' });
  },
});

interface Tried {
  readonly subject: string;
  readonly message: string;
  readonly value: string | undefined;
}

const findingOf = ({ subject, message }: Tried) => ({ subject, message });

/** A refusal is a finding here. @throws VaultError if the server is sealed or away */
async function tryOperation(
  session: VaultSession,
  query: VaultQuery,
  member: string,
  signal: AbortSignal,
): Promise<Tried> {
  const answer = await session.ask(query, signal);
  const subject = query.path;
  if (answer.status >= 300) {
    const failure = failureOf(query, answer);
    if (failure.kind === 'unavailable') throw failure;
    return { subject, message: `${failure.message}.`, value: undefined };
  }
  const value = dataOf(answer.body)[member];
  return { subject, message: 'The answer is none.', value: typeof value === 'string' ? value : undefined };
}
