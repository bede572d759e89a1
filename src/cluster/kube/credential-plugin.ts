import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import { printable } from '../../runtime/report/report-text.ts';
import type { ExecConfig, KubeconfigCluster } from './kubeconfig-files.ts';

/** Runs the credential plugin of a kubeconfig's user. */
export interface CredentialPlugin {
  /**
   * Adds its token or certificate, running it if the last ones have expired.
   * @throws SvcError KUBE_CONFIG with what the plugin said
   */
  apply(options: RequestOptions): Promise<void>;
}

/**
 * The library runs it, reads and keeps its credentials, but tells it nothing of the request (`KUBERNETES_EXEC_INFO`),
 * leaves it without a terminal, hides its prompts, and loses its status and `installHint`.
 */
export async function createCredentialPlugin(
  exec: ExecConfig,
  cluster: KubeconfigCluster,
): Promise<CredentialPlugin> {
  const { ExecAuth } = await import('@kubernetes/client-node/dist/exec_auth.js');
  const auth = new ExecAuth();
  const info = exec.provideClusterInfo ? { cluster: await clusterInfo(cluster) } : {};
  let child: ChildProcess | undefined;
  const execFn = (command: string, args: readonly string[] | null, { env = process.env }: SpawnOptions) => {
    child = start(exec, [command, ...(args ?? [])], env, info);
    return child;
  };
  Object.assign(auth, { execFn });
  return {
    async apply(options) {
      child = undefined;
      await auth.applyAuthentication({ name: 'user', exec }, options).catch((cause: unknown) => {
        throw failed(exec, reasonOf(cause, child), cause);
      });
      if (!options.cert && !options.headers) throw failed(exec, 'gave neither a token nor a certificate');
    },
  };
}

function start(exec: ExecConfig, command: readonly string[], env: NodeJS.ProcessEnv, info: object) {
  const interactive = isInteractive(exec);
  const { apiVersion } = exec;
  const told = { kind: 'ExecCredential', apiVersion, spec: { ...info, interactive } };
  const child = spawn(command[0] ?? '', command.slice(1), {
    env: { ...env, KUBERNETES_EXEC_INFO: JSON.stringify(told) },
    stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
  });
  child.stderr?.on('data', (text) => process.stderr.write(text));
  return child;
}

function isInteractive({ interactiveMode }: ExecConfig): boolean {
  if (interactiveMode === 'Always' && !process.stdin.isTTY)
    throw new Error('standard input is not a terminal');
  return interactiveMode !== 'Never' && process.stdin.isTTY === true;
}

/** As `ExecCredential` has it. */
async function clusterInfo(cluster: KubeconfigCluster): Promise<object> {
  const file = cluster['certificate-authority'];
  const { extensions = [] } = cluster;
  return {
    server: cluster.server,
    'tls-server-name': cluster['tls-server-name'],
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
    'certificate-authority-data': file
      ? await readFile(file, 'base64')
      : cluster['certificate-authority-data'],
    'proxy-url': cluster['proxy-url'],
    'disable-compression': cluster['disable-compression'],
    config: extensions.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension ?? null,
  };
}

const maxWords = 500;

/** @param child undefined if it was not started */
function reasonOf(cause: unknown, child: ChildProcess | undefined): string {
  const { message, code } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'is not installed';
  if (code !== undefined || child === undefined) return `cannot run: ${message}`;
  if (child.exitCode === 0) return 'printed no ExecCredential';
  return `failed with ${child.signalCode ?? `status ${child.exitCode}`}: ${oneLine(message) || 'it said nothing'}`;
}

function failed({ command, installHint }: ExecConfig, reason: string, cause?: unknown): SvcError {
  const isMissing = (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
  return new SvcError('KUBE_CONFIG', `The credential plugin ${command} ${reason}`, {
    cause,
    exitStatus: exitStatus.config,
    nextStep: (isMissing && oneLine(installHint ?? '')) || 'Do what the plugin says, and run it again.',
  });
}

const oneLine = (text: string) => printable(text.trim().replace(/\s+/g, ' ')).slice(-maxWords);
