const agents = 'svc://node-agent';

/** `TYPE:value`, where a value with odd characters is a JSON text. */
const alternativeName = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

/**
 * What a certificate with these names says of its owner: that it is the agent of this node, or an agent of some node.
 * @param names the subject's alternative names as Node writes them
 */
export function ownerOf(names: string | undefined, node: string): 'node' | 'agent' | undefined {
  const uris = urisOf(names ?? '');
  if (uris.includes(`${agents}/${node}`)) return 'node';
  return uris.includes(agents) ? 'agent' : undefined;
}

/** A name in quotes stays in them, whatever it holds: one that looks like several entries is none of ours. */
function urisOf(names: string): readonly string[] {
  const all = [...names.matchAll(alternativeName)];
  return all.filter(([, type]) => type === 'URI').map(([, , value = '']) => value);
}
