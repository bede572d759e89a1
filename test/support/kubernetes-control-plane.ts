import { createPublicKey, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { createCertificateAuthority, type Identity } from './certificates.ts';
import { type Child, launch } from './child.ts';
import { cleanEnv } from './clean-env.ts';
import { http } from './http.ts';
import { writeAdmission } from './kubernetes-admission.ts';
import { freePort } from './ports.ts';
import { testRsaKey } from './rsa-keys.ts';
import { type Server, startServer } from './server.ts';
import type { Stoppable } from './types.ts';

const ISSUER = 'https://kubernetes.default.svc.cluster.local';

export interface ControlPlane extends Stoppable {
  readonly url: string;
  readonly port: number;
  readonly caCert: string;
  readonly caFile: string;
  readonly adminToken: string;
  /** Its connections are kept until the API server ends. */
  readonly agent: Agent;
  pause(): Promise<void>;
  resume(): Promise<void>;
  readonly etcd: Pauseable;
  /** Lines of JSON; empty without `audit`. */
  auditLog(): string;
  logs(): string;
}

/** Ends a server and keeps its data; `resume` starts it again on the same port. */
export interface Pauseable {
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export interface ControlPlaneOptions {
  readonly controllers?: boolean;
  readonly audit?: boolean;
  readonly webhookClients?: Readonly<Record<string, Identity>>;
  readonly nodes?: NodesAccess;
}

/** What a control plane has to know of nodes in a network of their own. */
export interface NodesAccess {
  /** Under which addresses they know the API server, beside 127.0.0.1. */
  readonly addresses: readonly string[];
  /** Tokens of further users, with their groups. */
  readonly users: readonly { readonly name: string; readonly token: string; readonly groups: string }[];
  /** Unix socket of a CONNECT proxy in that network: the way to kubelets, webhooks and pods. */
  readonly proxySocket: string;
}

/** Who the API server is at kubelets. */
export const KUBELET_CLIENT = 'kube-apiserver-kubelet-client';

/** Paths of what the servers are started with. */
interface Files {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly kubeletCert: string;
  readonly kubeletKey: string;
  readonly tokens: string;
  readonly accountKey: string;
  readonly accountPublicKey: string;
}

/** Starts etcd, then the API server, then the controller manager where it is wanted; stops them the other way round. */
export async function startControlPlane(
  program: string,
  folder: string,
  { controllers = false, audit = false, webhookClients, nodes }: ControlPlaneOptions,
): Promise<ControlPlane> {
  const adminToken = randomBytes(16).toString('hex');
  const { files, caCert } = writeFiles(folder, adminToken, nodes);
  const agent = new Agent({ ca: caCert, keepAlive: true });
  const etcd = await startEtcd(program, folder);
  const more = [
    ...(audit ? auditArgs(folder) : []),
    ...(webhookClients ? [`--admission-control-config-file=${writeAdmission(folder, webhookClients)}`] : []),
    ...(nodes ? nodesArgs(folder, files, nodes) : []),
  ];
  const api = await startApiServer(program, folder, files, etcd.url, agent, more).catch(async (error) => {
    await etcd.stop();
    throw error;
  });
  const manager = controllers
    ? await startManager(program, folder, files, api.url, adminToken, nodes ? PATIENT : [])
    : undefined;
  return {
    ...{ url: api.url, port: api.port, caCert, caFile: files.ca, adminToken, agent },
    async pause() {
      await api.pause();
      agent.destroy();
    },
    resume: api.resume,
    etcd: { pause: etcd.pause, resume: etcd.resume },
    auditLog: () => (audit ? readFileSync(auditPath(folder), 'utf8') : ''),
    logs: () => [etcd.logs(), api.logs(), manager?.logs() ?? ''].join('\n'),
    async stop() {
      await manager?.stop();
      await api.stop();
      agent.destroy();
      await etcd.stop();
    },
  };
}

const auditPath = (folder: string) => join(folder, 'audit.log');

/** Who has written what, without the bodies. */
function auditArgs(folder: string): string[] {
  const policy = join(folder, 'audit-policy.json');
  const verbs = ['create', 'update', 'patch', 'delete'];
  const rules = [{ level: 'Metadata', verbs }, { level: 'None' }];
  const head = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'] };
  writeFileSync(policy, JSON.stringify({ ...head, rules }));
  writeFileSync(auditPath(folder), '', { mode: 0o600 });
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${auditPath(folder)}`];
}

function nodesArgs(folder: string, files: Files, { proxySocket }: NodesAccess): string[] {
  const selection = join(folder, 'egress.json');
  const transport = { uds: { udsName: proxySocket } };
  const cluster = { name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport } };
  const head = { apiVersion: 'apiserver.k8s.io/v1beta1', kind: 'EgressSelectorConfiguration' };
  writeFileSync(selection, JSON.stringify({ ...head, egressSelections: [cluster] }));
  return [
    `--egress-selector-config-file=${selection}`,
    // this host knows no node by its name
    '--kubelet-preferred-address-types=InternalIP',
    ...[`--kubelet-client-certificate=${files.kubeletCert}`, `--kubelet-client-key=${files.kubeletKey}`],
  ];
}

function writeFiles(
  folder: string,
  adminToken: string,
  nodes: NodesAccess | undefined,
): { files: Files; caCert: string } {
  const authority = createCertificateAuthority('Kubernetes test CA');
  const dnsNames = ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const addresses = ['127.0.0.1', ...(nodes?.addresses ?? [])];
  const { cert, key } = authority.issue({ commonName: 'kube-apiserver', dnsNames, addresses });
  const kubelet = authority.issue({ commonName: KUBELET_CLIENT });
  const users = nodes?.users.map(({ name, token, groups }) => `${token},${name},${name},${groups}\n`) ?? [];
  const accountKey = testRsaKey();
  const put = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const files = {
    ca: put('ca.pem', authority.cert),
    cert: put('server.pem', cert),
    key: put('server.key', key),
    kubeletCert: put('kubelet-client.pem', kubelet.cert),
    kubeletKey: put('kubelet-client.key', kubelet.key),
    tokens: put('tokens.csv', [`${adminToken},admin,admin,system:masters\n`, ...users].join('')),
    accountKey: put('account.key', accountKey),
    accountPublicKey: put(
      'account.pub',
      createPublicKey(accountKey).export({ type: 'spki', format: 'pem' }).toString(),
    ),
  };
  return { files, caCert: authority.cert };
}

/** Go collects less often: a fifth less processor time for each of the many clusters of a whole run. */
const seldomCollected = { GOGC: '400' };

async function startEtcd(program: string, folder: string): Promise<Server> {
  const peers = `http://127.0.0.1:${await freePort()}`;
  return startServer({
    name: 'etcd',
    env: seldomCollected,
    command: program,
    args: (port) => [
      ...['etcd', '--unsafe-no-fsync', '--log-level=warn', '--data-dir', join(folder, 'etcd')],
      ...['--listen-client-urls', `http://127.0.0.1:${port}`],
      ...['--advertise-client-urls', `http://127.0.0.1:${port}`],
      ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
      `--initial-cluster=default=${peers}`,
    ],
    folder,
    ready: async (url) => (await http(`${url}/readyz`)).status === 200,
  });
}

function startApiServer(
  program: string,
  folder: string,
  files: Files,
  etcd: string,
  agent: Agent,
  more: readonly string[],
): Promise<Server> {
  return startServer({
    name: 'kube-apiserver',
    env: seldomCollected,
    command: program,
    args: (port) => [
      ...['kube-apiserver', `--etcd-servers=${etcd}`, `--secure-port=${port}`],
      ...['--bind-address=127.0.0.1', '--advertise-address=127.0.0.1', '--endpoint-reconciler-type=none'],
      ...['--authorization-mode=Node,RBAC', '--enable-admission-plugins=NodeRestriction'],
      ...[`--client-ca-file=${files.ca}`, `--token-auth-file=${files.tokens}`],
      ...[`--tls-cert-file=${files.cert}`, `--tls-private-key-file=${files.key}`],
      ...[`--service-account-issuer=${ISSUER}`, `--service-account-signing-key-file=${files.accountKey}`],
      ...[`--service-account-key-file=${files.accountPublicKey}`, '--service-cluster-ip-range=10.0.0.0/24'],
      // webhooks are called at the addresses of their EndpointSlices: nobody makes ClusterIPs lead anywhere here
      ...['--allow-privileged=true', '--enable-aggregator-routing=true', ...more],
    ],
    folder,
    scheme: 'https',
    ready: async (url) => (await http(`${url}/readyz`, { agent })).status === 200,
  });
}

/** A node that is emulated on a busy host is late with its heartbeats, and its pods are no less ready. */
const PATIENT = ['--node-monitor-grace-period=10m'];

async function startManager(
  program: string,
  folder: string,
  files: Files,
  server: string,
  token: string,
  more: readonly string[],
): Promise<Child> {
  const config = join(folder, 'controller-manager.kubeconfig');
  const [name, context] = ['manager', { cluster: 'manager', user: 'manager' }];
  writeFileSync(
    config,
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': name },
      clusters: [{ name, cluster: { server, 'certificate-authority': files.ca } }],
      users: [{ name, user: { token } }],
      contexts: [{ name, context }],
    }),
    { mode: 0o600 },
  );
  const args = [
    ...['kube-controller-manager', `--kubeconfig=${config}`, '--controllers=*', '--leader-elect=false'],
    ...[`--service-account-private-key-file=${files.accountKey}`, `--root-ca-file=${files.ca}`],
    ...['--use-service-account-credentials=false', '--secure-port=0', ...more],
  ];
  return launch(program, args, { env: cleanEnv({ HOME: folder, ...seldomCollected }), cwd: folder });
}
