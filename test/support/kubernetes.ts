import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireTool } from '../testbed/ensure.ts';
import type { Identity } from './certificates.ts';
import { cleanEnv } from './clean-env.ts';
import { http } from './http.ts';
import { APPLY, applyPaths, applyWith } from './kubernetes-apply.ts';
import {
  type ControlPlane,
  type NodesAccess,
  type Pauseable,
  startControlPlane,
} from './kubernetes-control-plane.ts';
import { runCommand } from './run-command.ts';
import { temporaryFolder } from './temporary.ts';
import type { CommandResult, HttpResult, Stoppable } from './types.ts';

export interface KubernetesOptions {
  /** Also ReplicaSets, Jobs, quotas and the end of namespaces; default false. */
  readonly controllers?: boolean;
  /** Keeps an audit log of all writes; default false. */
  readonly audit?: boolean;
  /** What the API server shows of itself to mutating webhooks, by the name of their Service: `svc-operator.svc-system.svc`. */
  readonly webhookClients?: Readonly<Record<string, Identity>>;
  /** Nodes in a network of their own. */
  readonly nodes?: NodesAccess;
}

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/** A real API server over a real etcd, with RBAC. No kubelet: a pod "runs" when a test patches its status. */
export interface Kubernetes extends Stoppable {
  /** `https://127.0.0.1:PORT`; the certificate also names `kubernetes.default.svc`. */
  readonly url: string;
  readonly port: number;
  /** PEM of the authority behind its certificate. */
  readonly caCert: string;
  readonly caFile: string;
  /** Of a member of `system:masters`. */
  readonly adminToken: string;
  /** `path` from the root: `/api/v1/nodes`. Default token: the administrator's. Never throws on an HTTP status. */
  request(method: string, path: string, body?: unknown, options?: KubernetesCall): Promise<HttpResult>;
  /** As `request`, but an error status throws. Yields the object of the answer. */
  // biome-ignore lint/suspicious/noExplicitAny: objects of every kind are picked apart freely
  must(method: string, path: string, body?: unknown, options?: KubernetesCall): Promise<any>;
  /** A namespace of its own name, with its default service account. */
  createNamespace(labels?: Readonly<Record<string, string>>): Promise<string>;
  /** Server-side apply, strictly, of objects of any kind, of which roles and custom resources work then. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Where `apply` sends an object. @throws Error where the API server does not know its kind */
  applyPath(object: object): Promise<string>;
  /** Makes the service account where it is missing. */
  createServiceAccount(account: ServiceAccountName): Promise<void>;
  /** A token by TokenRequest; 600 s is the shortest life that the API server grants. */
  tokenFor(account: ServiceAccountName, seconds?: number): Promise<string>;
  /** Path of a kubeconfig with that token; default: the administrator's, and the API server's own address. */
  kubeconfig(token?: string, server?: string): string;
  /** Runs kubectl as the administrator. */
  kubectl(args: readonly string[], input?: string): Promise<CommandResult>;
  /** Ends the API server and keeps its data; `resume` starts it again on the same port. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** The same for its etcd. */
  readonly etcd: Pauseable;
  /** One event a line, as audit.k8s.io/v1 has it; empty without `audit`. */
  auditLog(): string;
  logs(): string;
}

export interface KubernetesCall {
  /** Null sends none. */
  readonly token?: string | null;
  /** Default: JSON, of a PATCH a merge patch. */
  readonly contentType?: string;
}

/**
 * Starts one; ready after about 3 s. Meant for one test file, with a namespace a test.
 * @throws ToolUnavailable where it cannot be built
 */
export async function startKubernetes(options: KubernetesOptions = {}): Promise<Kubernetes> {
  const { bins } = await requireTool('kubernetes');
  const program = bins.kubernetes as string;
  const folder = temporaryFolder('kubernetes');
  const plane = await startControlPlane(program, folder.path, options);
  const call = callOver(plane);
  const must = required(call);
  const applyPath = applyPaths(must);
  const config = kubeconfigWriter(plane, folder.path);
  const kubectl = (args: readonly string[], input?: string) =>
    runCommand(program, ['kubectl', '--kubeconfig', config(), ...args], folder.path, {
      env: cleanEnv({ HOME: folder.path }) as Record<string, string>,
      ...(input === undefined ? {} : { input }),
    });
  return {
    ...{ url: plane.url, port: plane.port, caCert: plane.caCert, caFile: plane.caFile },
    ...{ adminToken: plane.adminToken, request: call, must, kubeconfig: config, kubectl },
    async createNamespace(labels = {}) {
      const name = `test-${randomBytes(5).toString('hex')}`;
      await must('POST', '/api/v1/namespaces', { metadata: { name, labels } });
      await createServiceAccount(must, { namespace: name, name: 'default' });
      return name;
    },
    ...{ applyPath, apply: applyWith(must, applyPath) },
    createServiceAccount: (account) => createServiceAccount(must, account),
    async tokenFor({ namespace, name }, seconds = 3_600) {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
      return (await must('POST', path, { spec: { expirationSeconds: seconds } })).status.token;
    },
    pause: plane.pause,
    ...{ resume: plane.resume, etcd: plane.etcd, auditLog: plane.auditLog },
    logs: plane.logs,
    async stop() {
      await plane.stop();
      await folder.remove();
    },
  };
}

function callOver({ url, agent, adminToken }: ControlPlane): Kubernetes['request'] {
  return (method, path, body, { token = adminToken, contentType } = {}) => {
    const type = contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const headers = {
      'content-type': type,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return http(url + path, { method, headers, agent, ...text });
  };
}

function required(call: Kubernetes['request']): Kubernetes['must'] {
  return async (method, path, body, options) => {
    const answer = await call(method, path, body, options);
    if (answer.status >= 300)
      throw new Error(`Kubernetes: ${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
}

async function createServiceAccount(must: Kubernetes['must'], account: ServiceAccountName): Promise<void> {
  const path = `/api/v1/namespaces/${account.namespace}/serviceaccounts`;
  await must('PATCH', `${path}/${account.name}?fieldManager=test`, serviceAccount(account), APPLY);
}

function serviceAccount(metadata: ServiceAccountName): object {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
}

/** JSON is YAML, too. */
function kubeconfigWriter({ url, caFile, adminToken }: ControlPlane, folder: string) {
  return (token: string = adminToken, server: string = url): string => {
    const path = join(folder, `kubeconfig-${randomBytes(5).toString('hex')}`);
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
      clusters: [{ name: 'test', cluster: { server, 'certificate-authority': caFile } }],
      users: [{ name: 'test', user: { token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    };
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    return path;
  };
}
