import { Refusal } from './refusal.ts';

/** What a token may do: capabilities by exact path. */
export type Policy = ReadonlyMap<string, ReadonlySet<string>>;

const rule = /\s*path\s+"([^"*+]+)"\s*\{\s*capabilities\s*=\s*\[([^\]]*)\]\s*\}/y;

/** Policies of exact paths with `capabilities`, which is all that svc needs. @throws Refusal for anything else */
export function parsePolicy(text: string): Policy {
  const policy = new Map<string, Set<string>>();
  let end = 0;
  rule.lastIndex = 0;
  for (let match = rule.exec(text); match; match = rule.exec(text)) {
    const [, path = '', list = ''] = match;
    policy.set(path, new Set(Array.from(list.matchAll(/"([a-z]+)"/g), ([, name = '']) => name)));
    end = rule.lastIndex;
  }
  if (text.slice(end).trim() !== '')
    throw new Refusal(400, 'failed to parse policy: only exact paths with capabilities are known here');
  return policy;
}

export type Capability = 'create' | 'read' | 'update' | 'delete' | 'list' | 'patch';

const capabilities: Readonly<Record<string, Capability>> = {
  GET: 'read',
  POST: 'update',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** What the method needs, where neither a list is asked for nor something new is written. */
export const capabilityFor = (method: string): Capability | undefined => capabilities[method];

export function permits(
  policies: readonly Policy[],
  capability: Capability | undefined,
  path: string,
): boolean {
  return capability !== undefined && policies.some((policy) => policy.get(path)?.has(capability));
}

/** Whether they allow anything below the mount. */
export function reaches(policies: readonly Policy[], mount: string): boolean {
  return policies.some((policy) => [...policy.keys()].some((path) => path.startsWith(`${mount}/`)));
}
