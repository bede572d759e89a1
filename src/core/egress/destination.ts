/** Where a connection goes. */
export interface Destination {
  /** A name without a dot at its end, or an address; IPv6 in brackets. */
  readonly host: string;
  readonly port: number;
}

/** What a URL connects to; undefined: it is none, or not of HTTP. */
export function destinationOf(text: string): Destination | undefined {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return undefined;
  const usual = url.protocol === 'https:' ? 443 : 80;
  return { host: plainHost(url.hostname), port: url.port === '' ? usual : Number(url.port) };
}

/** The same name is always the same text. */
export function plainHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
