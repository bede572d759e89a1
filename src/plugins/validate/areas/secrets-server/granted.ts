import { randomBytes } from 'node:crypto';
import type { CheckContext } from '../../contract.ts';
import { shared } from '../../shared.ts';
import { forProxy, forWrapper } from './identity.ts';
import { kvPlaces } from './kv-places.ts';

/** What the login may do on a path, beside what it is to be allowed. */
export interface Granted {
  readonly path: string;
  readonly wanted: readonly string[];
  readonly has: readonly string[];
}

/** Looks up what the login may do where it needs something, and where it must not be let in. */
export const granted = shared(async (context): Promise<readonly Granted[]> => {
  const wanted = await wantedOf(context);
  const paths = [...wanted.keys()];
  const found = await (await context.vault()).capabilities(paths, context.signal);
  return paths.map((path) => ({
    path,
    wanted: wanted.get(path) ?? [],
    has: (found.get(path) ?? []).filter((one) => one !== 'deny'),
  }));
});

/** By path, not encoded; an empty list where nothing is to be allowed. */
async function wantedOf(context: CheckContext): Promise<ReadonlyMap<string, readonly string[]>> {
  const { config } = context;
  const wanted = new Map<string, readonly string[]>(administration.map((path) => [path, []]));
  const other = `svc-validate-${randomBytes(6).toString('hex')}`;
  for (const path of ofTransit(config.transitMount, config.transitKey, other)) wanted.set(path, []);
  const uses = forProxy(config) ? ['update'] : [];
  for (const operation of ['encrypt', 'decrypt'])
    wanted.set(`${config.transitMount}/${operation}/${config.transitKey}`, uses);
  if (!forWrapper(config)) return wanted;
  for (const { mount, version, readPath } of (await kvPlaces(context)).places) {
    const name = version === 2 ? `data/${other}` : other;
    wanted.set(`${mount}/${name}`, []);
    if (version === 2) wanted.set(readPath.replace(`${mount}/data/`, `${mount}/metadata/`), []);
    wanted.set(readPath, ['read']);
  }
  return wanted;
}

const administration = [
  ...['sys/mounts', 'sys/mounts/svc-validate', 'sys/auth', 'sys/seal', 'sys/audit', 'sys/raw/core'],
  ...['sys/policies/acl', 'sys/policies/acl/svc-validate', 'sys/storage/raft/snapshot'],
  ...['auth/token/create', 'auth/token/create-orphan', 'identity/entity'],
];

function ofTransit(mount: string, key: string, other: string): readonly string[] {
  const ofKey = ['keys', 'export/encryption-key', 'backup', 'rewrap', 'datakey/plaintext', 'datakey/wrapped'];
  return [
    ...ofKey.map((operation) => `${mount}/${operation}/${key}`),
    ...['config', 'rotate', 'trim'].map((operation) => `${mount}/keys/${key}/${operation}`),
    ...['keys', 'encrypt', 'decrypt'].map((operation) => `${mount}/${operation}/${other}`),
    ...[`${mount}/keys`, `${mount}/restore`],
  ];
}
