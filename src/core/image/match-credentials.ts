import type { RegistryCredential } from './registry-credential.ts';

/** Under which Docker writes a log-in to Docker Hub. */
const dockerHub = 'index.docker.io';

/**
 * The credentials for a repository, the most specific first, each once; as the kubelet finds them: keys in descending
 * order, and a log-in to Docker Hub only where no other fits.
 * Source: pkg/credentialprovider/keyring.go of Kubernetes
 * @param name registry and repository, `docker.io/library/nginx`
 */
export function matchCredentials(all: readonly RegistryCredential[], name: string): RegistryCredential[] {
  const matching = all.filter(({ key }) => matches(key, name));
  const forHub = name.startsWith('docker.io/') ? all.filter(({ key }) => key === dockerHub) : [];
  const found = matching.length > 0 ? matching : forHub;
  return unique(found.sort((a, b) => compareBytes(b.key, a.key)));
}

/** A glob stands for what one part of the host may be; the path is a prefix, ports must be equal. */
function matches(key: string, name: string): boolean {
  const wanted = split(key);
  const given = split(name);
  return (
    wanted.port === given.port &&
    wanted.parts.length === given.parts.length &&
    given.path.startsWith(wanted.path) &&
    wanted.parts.every((part, index) => matchesGlob(part, given.parts[index] ?? ''))
  );
}

function split(name: string): { parts: string[]; port: string; path: string } {
  const slash = name.indexOf('/');
  const authority = slash < 0 ? name : name.slice(0, slash);
  const [, host = authority, port = ''] = /^(\[.*\]|[^:]*)(?::(\d*))?$/.exec(authority) ?? [];
  return { parts: host.split('.'), port, path: slash < 0 ? '' : name.slice(slash) };
}

/** Pieces between stars are looked for from the left, so that no pattern takes more than linear time a piece. */
function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const middle = text.slice(first.length, text.length - last.length);
  let at = 0;
  for (const piece of rest) {
    const found = middle.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return true;
}

function unique(credentials: readonly RegistryCredential[]): RegistryCredential[] {
  const seen = new Map(credentials.toReversed().map((each) => [`${each.username}\0${each.password}`, each]));
  return credentials.filter((each) => seen.get(`${each.username}\0${each.password}`) === each);
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
