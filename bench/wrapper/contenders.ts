import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnv } from '../../test/support/clean-env.ts';
import type { TestNodeAgent } from '../../test/support/node-agent.ts';
import type { KubernetesAuth, OpenBao } from '../../test/support/types.ts';
import { requireTool } from '../../test/testbed/ensure.ts';
import type { Starter } from './contender.ts';
import { application } from './measure.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface BenchEnvironment {
  readonly bao: OpenBao;
  readonly auth: KubernetesAuth;
  readonly agent: TestNodeAgent;
  /** Of the shipped folder. */
  readonly entry: readonly string[];
  /** For files of the contenders. */
  readonly folder: string;
}

export const bare = (): Starter => ({
  name: 'no wrapper',
  command: application,
  env: cleanEnv(),
  stays: false,
});

export async function tini(): Promise<Starter> {
  const { bins } = await requireTool('tini');
  return { ...bare(), name: 'tini', command: [bins.tini as string, '--', ...application], stays: true };
}

/** OpenBao's own agent as process supervisor, with the same login and one template. */
export async function baoAgent({ bao, auth, folder }: BenchEnvironment): Promise<Starter> {
  const { bins } = await requireTool('openbao');
  const config = join(folder, 'agent.hcl');
  writeFileSync(config, agentConfig(bao, auth, folder));
  return {
    name: 'bao agent',
    command: [bins.bao as string, 'agent', `-config=${config}`],
    env: cleanEnv(),
    stays: true,
  };
}

function agentConfig(bao: OpenBao, auth: KubernetesAuth, folder: string): string {
  return `
vault { address = "${bao.url}" ca_cert = "${bao.caFile}" }
auto_auth { method { type = "kubernetes" mount_path = "${auth.mountPath}"
  config = { role = "${auth.role}" token_path = "${auth.jwtPath}" } } }
template_config { exit_on_retry_failure = true }
env_template "PASSWORD" { contents = "{{ with secret \\"secret/data/app\\" }}{{ .Data.data.PASSWORD }}{{ end }}" }
exec { command = ${JSON.stringify(application)} restart_on_secret_changes = "never" }
pid_file = "${join(folder, 'agent.pid')}"
`;
}

export function wrapper(
  { bao, auth }: BenchEnvironment,
  name: string,
  more: Partial<Pick<Starter, 'env' | 'stays'>> & {
    readonly entry?: readonly string[];
    /** Default: the one that says the time. */
    readonly application?: readonly string[];
  },
): Starter {
  const entry = more.entry ?? [process.execPath, join(ROOT, 'dist/wrapper.cjs')];
  const env = cleanEnv({
    VAULT_ADDR: bao.url,
    VAULT_CACERT: bao.caFile,
    VAULT_AUTH_ROLE: auth.role,
    VAULT_AUTH_MOUNT_PATH: auth.mountPath,
    SVC_SA_TOKEN_PATH: auth.jwtPath,
    SVC_SECRET_PATHS: 'secret/app',
    HEALTH_ADDR: '127.0.0.1:0',
    NODE_EXTRA_CA_CERTS: undefined,
    ...more.env,
  });
  const command = [...entry, '--', ...(more.application ?? application)];
  return { name, command, env, stays: more.stays ?? true };
}
