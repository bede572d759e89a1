import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { http } from '../../support/http.ts';
import { type KeyRecorder, startKeyRecorder } from '../../support/key-recorder.ts';
import { type KvStore, kvStore } from '../../support/kv.ts';
import { type MtlsBroker, startMtlsBroker } from '../../support/mtls-broker.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { startWrapper, type WrapperOptions, type WrapperRun } from '../../support/svc-wrapper.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import type { KubernetesAuth, OpenBao, SvcVault } from '../../support/types.ts';
import { filesIn } from './files.ts';
import type { Place, Secret } from './search.ts';

export type Transport = 'plain' | 'TLS' | 'mTLS broker';

/** A key server that is reached in three ways, and everything that must not be found outside of it. */
export interface Wrapped {
  readonly bao: OpenBao;
  readonly kv: KvStore;
  readonly kubernetes: KubernetesAuth;
  /** For HOME and TMPDIR. */
  readonly disk: TemporaryFolder;
  /** The variables by which the server is reached. */
  reach(transport: Transport): { readonly addr: string; readonly env: Record<string, string> };
  /** Makes up values, remembers them as secrets and writes them to `secret/<name>` and `kv1/<name>`. */
  write(name: string): Promise<void>;
  /** A wrapper that is ended with this at the latest. */
  run(vault: SvcVault, options: Partial<WrapperOptions>): Promise<WrapperRun>;
  /** All values under a name, and all tokens and JWTs. */
  secrets(name: string): Secret[];
  stop(): Promise<void>;
}

export async function startWrapped(): Promise<Wrapped> {
  const bao = await startOpenBao();
  const kv = await kvStore(bao);
  const kubernetes = await bao.enableKubernetesAuth({ policies: [kv.policy], role: 'app' });
  const recorder = await startKeyRecorder(bao.url);
  const tls = await startMtlsBroker(recorder.url, undefined, 'anybody');
  const broker = await startMtlsBroker(recorder.url);
  const disk = temporaryFolder('wrapped');
  const runs: WrapperRun[] = [];
  const values: Secret[] = [];
  return {
    bao,
    kv,
    kubernetes,
    disk,
    reach: (transport) => reachBy(transport, recorder, tls, broker),
    async write(name) {
      const [one, two] = [valuesFor(name, values.length), valuesFor(name, values.length + 1)];
      await kv.put(name, fieldsOf(one));
      await kv.putV1(name, { V1: two[0]?.bytes.toString() });
      values.push(...one, ...two.slice(0, 1));
    },
    async run(vault, options) {
      const run = await startWrapper({
        paths: [],
        command: ['/bin/sh', '-c', 'trap "" HUP; echo RUN; exec sleep 600'],
        ...options,
        env: { HOME: disk.path, TMPDIR: disk.path, SVC_LOG_LEVEL: 'debug', ...options.env },
        vault,
      });
      runs.push(run);
      return run;
    },
    secrets: (name) => [
      ...values.filter((one) => one.name.startsWith(`${name} `)),
      ...[...recorder.tokens].map((token, index) => ({ name: `token ${index}`, bytes: Buffer.from(token) })),
      { name: 'JWT', bytes: readFileSync(kubernetes.jwtPath) },
    ],
    async stop() {
      await Promise.all(runs.map((run) => run.stop()));
      for (const each of [tls, broker, recorder, bao]) await each.stop();
      await disk.remove();
    },
  };
}

function reachBy(transport: Transport, recorder: KeyRecorder, tls: MtlsBroker, broker: MtlsBroker) {
  if (transport === 'plain') return { addr: recorder.url, env: {} };
  if (transport === 'TLS') return { addr: tls.url, env: { VAULT_CACERT: tls.caFile } };
  const { url, caFile, certFile, keyFile } = broker;
  const files = { SVC_BROKER_TLS_CA: caFile, SVC_BROKER_TLS_CERT: certFile, SVC_BROKER_TLS_KEY: keyFile };
  return { addr: 'https://127.0.0.1:1', env: { SVC_BROKER_ADDR: url, ...files } };
}

const random = (bytes: number): string => randomBytes(bytes).toString('base64url');

/** A word, one with much to escape, one that is inside of an object, one that takes several TLS records' parts. */
function valuesFor(name: string, number: number): Secret[] {
  const texts = {
    WORD: random(24),
    ESCAPED: `${random(18)}"é\n\\<${random(18)}`,
    INSIDE: random(24),
    LONG: random(3000),
  };
  return Object.entries(texts).map(([field, text]) => ({
    name: `${name} ${field} ${number}`,
    bytes: Buffer.from(text),
  }));
}

function fieldsOf(secrets: readonly Secret[]): Record<string, unknown> {
  const [WORD, ESCAPED, deep, LONG] = secrets.map(({ bytes }) => bytes.toString());
  return { WORD, ESCAPED, INSIDE: { deep: [deep] }, LONG };
}

/** What of a running wrapper others can read beside its memory, as places to search. */
export function surroundingsOf({ pid }: WrapperRun): Place[] {
  const proc = ['environ', 'cmdline', 'comm'].map((name) => `/proc/${pid}/${name}`);
  const places = proc.map((path) => ({ name: path, bytes: readFileSync(path) }));
  return [...places, ...filesIn(readlinkSync(`/proc/${pid}/cwd`))];
}

/** What its health endpoint says. */
export async function pagesOf(run: WrapperRun): Promise<Place[]> {
  const health = await run.health();
  const pages = ['healthz', 'readyz', 'metrics'].map(async (name) => {
    const { text } = await http(`${health}/${name}`);
    return { name, bytes: Buffer.from(text) };
  });
  return Promise.all(pages);
}

/** Where the descriptors of a process lead, by number. */
export function descriptorsOf(pid: number): Record<string, string> {
  const folder = `/proc/${pid}/fd`;
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readlinkSync(join(folder, name))]));
}
