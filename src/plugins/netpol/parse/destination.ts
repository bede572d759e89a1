import type { EgressDestination } from '../../../core/custom-resources/service-config.ts';
import { formatBlock, isTooWide, parseBlock } from '../../../core/egress/block.ts';
import { mistake, type Parser } from '../../../core/settings/parsers.ts';
import { hostOf } from './host.ts';
import { splitPort } from './split-port.ts';

const expects =
  'host[:port] or block[:port] with udp:// before it for UDP, such as db.example.eu:5432, udp://192.0.2.0/24:123 ' +
  'or [2001:db8::/32]:443; a block is /8 (IPv6: /7) or smaller';

/** Without a port: 443. */
export function destination(): Parser<EgressDestination> {
  return { expects, parse: (text) => parse(text) ?? mistake(expects) };
}

/** A block of addresses that is not nearly everything. */
export function block(): Parser<string> {
  const blocks = 'a block of addresses such as 192.0.2.0/24, /8 (IPv6: /7) or smaller';
  return { expects: blocks, parse: (text) => inBlock(text)?.cidr ?? mistake(blocks) };
}

function parse(text: string): EgressDestination | undefined {
  const [, scheme, rest = ''] = /^(?:(tcp|udp):\/\/)?(.*)$/.exec(text) ?? [];
  const { host: given = '', port = 443 } = splitPort(rest) ?? {};
  const where = given.includes('/') ? inBlock(given) : at(given);
  return where && { ...where, port, protocol: scheme === 'udp' ? 'UDP' : 'TCP' };
}

function inBlock(text: string): EgressDestination | undefined {
  const block = parseBlock(text);
  return block === undefined || isTooWide(block) ? undefined : { cidr: formatBlock(block) };
}

function at(text: string): EgressDestination | undefined {
  const host = hostOf(text);
  return host === undefined ? undefined : { host };
}
