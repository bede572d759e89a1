import { bundledProgram } from '../../../support/bundled-program.ts';
import { type KvStore, kvStore } from '../../../support/kv.ts';
import { startOpenBao } from '../../../support/openbao.ts';
import { startWrapper, type WrapperOptions, type WrapperRun } from '../../../support/svc-wrapper.ts';
import type { KubernetesAuth, OpenBao, SvcVault } from '../../../support/types.ts';

/** What the fixture application shows of itself. */
export interface Shown {
  readonly why: 'start' | 'SIGHUP';
  readonly pid: number;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | null>>;
  readonly descriptor: Readonly<Record<string, string>>;
}

export interface Bed {
  readonly bao: OpenBao;
  readonly kv: KvStore;
  readonly kubernetes: KubernetesAuth;
  /** Token auth with a fresh token of the application's policy. */
  withToken(): Promise<SvcVault>;
  readonly withKubernetes: SvcVault;
  /** Starts a wrapper that is ended by `endRuns`, or with the bed at the latest. */
  run(options: Partial<WrapperOptions>): Promise<WrapperRun>;
  /** The fixture application as a command. */
  readonly application: readonly string[];
  /** Ends the wrappers: one that renews each second starts a process each second until it is ended. */
  endRuns(): Promise<void>;
  stop(): Promise<void>;
}

const fixture = new URL('../fixtures/application.ts', import.meta.url);

/** A key server with TLS, key-value mounts, token and Kubernetes auth for one policy. */
export async function startBed(): Promise<Bed> {
  const bao = await startOpenBao({ tls: true });
  const kv = await kvStore(bao);
  const kubernetes = await bao.enableKubernetesAuth({ policies: [kv.policy], role: 'app' });
  const server = { addr: bao.url, caFile: bao.caFile };
  const runs: WrapperRun[] = [];
  const endRuns = async () => void (await Promise.all(runs.splice(0).map((run) => run.stop())));
  const application = [process.execPath, bundledProgram(fixture)];
  const withToken = async () => ({ ...server, token: await kv.token() });
  return {
    bao,
    kv,
    kubernetes,
    withToken,
    withKubernetes: { ...server, kubernetes },
    application,
    async run(options) {
      const vault = options.vault ?? (await withToken());
      const run = await startWrapper({ paths: ['secret/app'], command: application, ...options, vault });
      runs.push(run);
      return run;
    },
    endRuns,
    async stop() {
      await endRuns();
      await bao.stop();
    },
  };
}

/** What the fixture application showed, the nth time. */
export async function shown(run: WrapperRun, count = 1): Promise<Shown> {
  const pattern = new RegExp(`(?:^APP .*\\n[^]*?){${count - 1}}^APP (.*)\\n`, 'm');
  return JSON.parse((await run.says(pattern))[1] as string) as Shown;
}
