import ipaddr from 'ipaddr.js';
import { endOf, isReachable } from '../egress/address.ts';

/** One authentication scheme offered by a `WWW-Authenticate` header; names in lower case. */
export interface AuthChallenge {
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const longest = 8_192;
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const parameter = new RegExp(`(${token})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`, 'y');
const schemeForm = new RegExp(`(${token})(?=\\s|,|$)`, 'y');

/**
 * The challenges of a `WWW-Authenticate` header in order (RFC 9110, section 11.6.1), up to the first malformed one. If
 * a parameter repeats, its first value counts.
 */
export function parseChallenges(header: string): AuthChallenge[] {
  const text = header.slice(0, longest);
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  for (let at = skip(text, 0); at < text.length; at = skip(text, at)) {
    const pair = matchAt(parameter, text, at);
    const current = challenges.at(-1);
    const [matched, name = '', quoted, plain = ''] = pair ?? matchAt(schemeForm, text, at) ?? [''];
    if (matched === '' || (pair && current === undefined)) break;
    if (pair && current) {
      const key = name.toLowerCase();
      if (!Object.hasOwn(current.parameters, key)) current.parameters[key] = unquoted(quoted) ?? plain;
    } else challenges.push({ scheme: name.toLowerCase(), parameters: Object.create(null) });
    at += matched.length;
  }
  return challenges;
}

function matchAt(form: RegExp, text: string, at: number): RegExpExecArray | null {
  form.lastIndex = at;
  return form.exec(text);
}

function skip(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[\s,]/.test(text.charAt(at))) at++;
  return at;
}

function unquoted(text: string | undefined): string | undefined {
  return text?.replace(/\\(.)/g, '$1');
}

/**
 * Whether an address may belong to a registry: not loopback in any notation, not link-local, and not a metadata server.
 * Private addresses are allowed, because many registries have one.
 * @param local whether loopback addresses are also allowed
 */
export function mayBeRegistry(text: string, { local }: { readonly local: boolean }): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = endOf(ipaddr.parse(text));
  return address.range() === 'loopback' ? local : isReachable(address);
}
