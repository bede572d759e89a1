import type { KeyAnswer, KeyRequest, KeyServerState } from './exchange.ts';
import { kvMount } from './kv/kv-store.ts';
import { describedMount } from './mount-lookup.ts';
import { noSuchPath, Refusal } from './refusal.ts';
import type { TransitMounts } from './transit-mounts.ts';

/** Mounts and policies. @throws Refusal */
export function answerSystem(
  { tokens, mounts }: KeyServerState,
  { method, path, body }: KeyRequest,
): KeyAnswer {
  if (path === 'sys/mounts' && method === 'GET') return { status: 200, body: mountList(mounts.names()) };
  const [, kind, name] = /^sys\/(mounts|policies\/acl)\/(.+)$/.exec(path) ?? [];
  if (name === undefined || (method !== 'POST' && method !== 'PUT')) throw noSuchPath();
  if (kind === 'mounts') mountEngine(mounts, name.replace(/\/+$/, ''), body['type']);
  else tokens.writePolicy(name, String(body['policy'] ?? ''));
  return { status: 204 };
}

function mountList(transitNames: readonly string[]): unknown {
  const transit = transitNames.map((name) => [`${name}/`, describedMount.transit]);
  const data = { [`${kvMount}/`]: describedMount.kv, ...Object.fromEntries(transit) };
  return { ...data, data };
}

function mountEngine(mounts: TransitMounts, name: string, type: unknown): void {
  if (name === kvMount) throw new Refusal(400, `path is already in use at ${name}/`);
  if (type !== 'transit') throw new Refusal(400, 'plugin not found in the catalog: only transit is here');
  mounts.mount(name);
}
