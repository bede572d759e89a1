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

const capabilities: Readonly<Record<string, string>> = {
  GET: 'read',
  POST: 'update',
  PUT: 'update',
  DELETE: 'delete',
};

export function permits(policies: readonly Policy[], method: string, path: string): boolean {
  const needed = capabilities[method];
  return needed !== undefined && policies.some((policy) => policy.get(path)?.has(needed));
}
