import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { requireTool } from '../testbed/ensure.ts';
import { http } from './http.ts';
import { enableKubernetesAuth, type KeyServerCall } from './kubernetes-auth.ts';
import { type Server, startServer } from './server.ts';
import { type TemporaryFolder, temporaryFolder } from './temporary.ts';
import type { HttpResult, KubernetesAuth, OpenBao, OpenBaoOptions, PolicyTokenOptions } from './types.ts';
import { waitFor } from './wait-for.ts';

const ROOT = 'root';

/**
 * Starts OpenBao in development mode: in memory, unsealed, the root token is `root`.
 * @throws ToolUnavailable where OpenBao cannot be had
 */
export async function startOpenBao(options: OpenBaoOptions = {}): Promise<OpenBao> {
  const { bins } = await requireTool('openbao');
  const folder = temporaryFolder('openbao');
  const certificates = join(folder.path, 'certs');
  await mkdir(certificates);
  const caFile = options.tls ? join(certificates, 'vault-ca.pem') : undefined;
  const server = await startServer({
    name: 'OpenBao',
    command: bins.bao as string,
    args: (port) => [
      ...['server', '-dev', '-dev-no-store-token', `-dev-root-token-id=${ROOT}`],
      `-dev-listen-address=127.0.0.1:${port}`,
      ...(options.tls ? ['-dev-tls', `-dev-tls-cert-dir=${certificates}`] : []),
    ],
    folder: folder.path,
    scheme: options.tls ? 'https' : 'http',
    ready: (url) => isReady(url, pem(caFile)),
  });
  return handle(server, folder, caFile);
}

/** Beside the server its mount `secret`, which refuses writes for a moment while it becomes one of version 2. */
async function isReady(url: string, ca: string | undefined): Promise<boolean> {
  const health = await http(`${url}/v1/sys/health`, { ca });
  if (health.status !== 200) return false;
  const mount = await http(`${url}/v1/secret/config`, { ca, headers: { 'x-vault-token': ROOT } });
  return mount.status === 200;
}

function handle(server: Server, folder: TemporaryFolder, caFile: string | undefined): OpenBao {
  const call: KeyServerCall = (method, path, body, token = ROOT) => {
    const headers = {
      'content-type': 'application/json',
      ...(token === null ? {} : { 'x-vault-token': token }),
    };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return http(`${server.url}/v1/${path}`, { method, headers, ca: pem(caFile), ...text });
  };
  const must = required(call);
  const unsealKey = () => waitFor('the unseal key', () => /Unseal Key: (\S+)/.exec(server.logs())?.[1]);
  const auths: KubernetesAuth[] = [];
  const transitPolicy = (options?: PolicyTokenOptions) => writeTransitPolicy(must, options);
  return {
    port: server.port,
    url: server.url,
    pid: server.pid,
    logs: server.logs,
    rootToken: ROOT,
    caFile,
    request: call,
    transitPolicy,
    async enableTransit(mount = 'transit', key = 'svc') {
      await must('POST', `sys/mounts/${mount}`, { type: 'transit' });
      await must('POST', `${mount}/keys/${key}`, {});
    },
    async policyToken(options = {}) {
      const policies = [await transitPolicy(options)];
      const body = { policies, no_default_policy: true, ttl: options.ttl ?? '1h' };
      return (await must('POST', 'auth/token/create', body)).json.auth.client_token;
    },
    async rotate(mount = 'transit', key = 'svc') {
      await must('POST', `${mount}/keys/${key}/rotate`);
    },
    async seal() {
      await must('POST', 'sys/seal');
    },
    async unseal() {
      await must('POST', 'sys/unseal', { key: await unsealKey() }, null);
    },
    async revoke(token) {
      await must('POST', 'auth/token/revoke', { token });
    },
    async enableKubernetesAuth(options = {}) {
      const policies = options.policies ?? [await transitPolicy()];
      const auth = await enableKubernetesAuth(must, { ...options, policies });
      auths.push(auth);
      return auth;
    },
    async stop() {
      await Promise.all(auths.map((auth) => auth.stop()));
      await server.stop();
      await folder.remove();
    },
  };
}

/** As `call`, but an error status throws. */
function required(call: KeyServerCall): KeyServerCall {
  return async (method, path, body, token): Promise<HttpResult> => {
    const answer = await call(method, path, body, token);
    if (answer.status >= 300)
      throw new Error(`OpenBao: ${method} ${path}: ${answer.status} ${answer.text.trim()}`);
    return answer;
  };
}

async function writeTransitPolicy(must: KeyServerCall, options: PolicyTokenOptions = {}): Promise<string> {
  const { mount = 'transit', key = 'svc' } = options;
  const name = `transit-${randomBytes(6).toString('hex')}`;
  const rule = (operation: string) => `path "${mount}/${operation}/${key}" { capabilities = ["update"] }\n`;
  await must('PUT', `sys/policies/acl/${name}`, { policy: rule('encrypt') + rule('decrypt') });
  return name;
}

function pem(file: string | undefined): string | undefined {
  return file && readFileSync(file, 'utf8');
}
