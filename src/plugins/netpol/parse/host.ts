import { canonicalAddress } from '../../../core/egress/address.ts';
import { plainHost } from '../../../core/egress/destination.ts';

const name = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** A name or an address in one form; undefined: it is neither. Digits at the end are of an address or of nothing. */
export function hostOf(text: string): string | undefined {
  const host = plainHost(text);
  if (/(^|\.)\d+$/.test(host) || host.includes(':')) return canonicalAddress(host);
  return name.test(host) ? host : undefined;
}
