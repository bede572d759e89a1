import { canonicalAddress } from '../../../core/egress/address.ts';
import { mistake, type Parser } from '../../../core/settings/parsers.ts';

/** An IPv4 or IPv6 address, in its shortest form. */
export function address(): Parser<string> {
  const expects = 'an address such as 10.96.0.10 or fd00::a';
  return { expects, parse: (text) => canonicalAddress(text) ?? mistake(expects) };
}
