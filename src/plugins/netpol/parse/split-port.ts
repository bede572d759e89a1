/** What stands before a port, without brackets, and the port where one is given. */
export interface SplitPort {
  readonly host: string;
  readonly port: number | undefined;
}

/** Takes `host`, `host:port`, `[IPv6]` and `[IPv6]:port` apart; undefined: it is none of them. */
export function splitPort(text: string): SplitPort | undefined {
  const [, inBrackets, plain, digits] = /^(?:\[([^[\]]+)\]|([^[\]:]+))(?::([1-9]\d{0,4}))?$/.exec(text) ?? [];
  const host = inBrackets ?? plain;
  const port = digits === undefined ? undefined : Number(digits);
  if (host === undefined || (port ?? 0) > 65_535) return undefined;
  if (inBrackets !== undefined && !inBrackets.includes(':')) return undefined;
  return { host, port };
}
