import type { Destination } from '../../../core/egress/destination.ts';
import { mistake, type Parser } from '../../../core/settings/parsers.ts';
import { hostOf } from './host.ts';
import { splitPort } from './split-port.ts';

const expects = 'host:port such as 192.0.2.1:6443, [2001:db8::1]:6443 or kubernetes.example.eu:443';

export function hostAndPort(): Parser<Destination> {
  return { expects, parse: (text) => parse(text) ?? mistake(expects) };
}

function parse(text: string): Destination | undefined {
  const { host: given = '', port } = splitPort(text) ?? {};
  const host = hostOf(given);
  return host === undefined || port === undefined ? undefined : { host, port };
}
