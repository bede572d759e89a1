import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { listen } from './loopback.ts';

/** A package that the registry offers, in one version. */
export interface Offered {
  readonly manifest: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string };
  /** Its content: a tarball, or the hash of one that npm has in its cache. */
  readonly content: { readonly tarball: string } | { readonly integrity: string };
}

export interface NpmRegistry {
  readonly url: string;
  /** What was asked for, such as `/svc-plugin-fields`. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
}

/** A registry of npm on loopback, with these packages and no others. */
export async function startNpmRegistry(offered: readonly Offered[]): Promise<NpmRegistry> {
  const asked: string[] = [];
  const byName = new Map(offered.map((one) => [one.manifest.name, one]));
  const server = createServer(({ url = '/', headers }, response) => {
    const path = decodeURIComponent(url.split('?')[0] ?? '/');
    asked.push(path);
    const [name = '', file] = path.slice(1).split('/-/');
    const found = byName.get(name);
    if (found === undefined) response.writeHead(404).end('{"error":"not found"}');
    else if (file === undefined) sendPackument(response, found, `http://${headers.host}`);
    else sendTarball(response, found);
  });
  const own = await listen(server);
  return {
    url: `${own.url}/`,
    asked,
    stop: own.stop,
  };
}

function sendPackument(response: ServerResponse, { manifest, content }: Offered, origin: string): void {
  const { name, version } = manifest;
  const integrity = 'integrity' in content ? content.integrity : integrityOf(readFileSync(content.tarball));
  const dist = { tarball: `${origin}/${name}/-/${version}.tgz`, integrity };
  const packument = {
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { ...manifest, dist } },
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(packument));
}

function sendTarball(response: ServerResponse, { content }: Offered): void {
  if ('tarball' in content) response.writeHead(200).end(readFileSync(content.tarball));
  else response.writeHead(404).end();
}

function integrityOf(bytes: Buffer): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
}
