import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createKubeClient,
  findKubeConnection,
  inClusterConnection,
  kubeClientOver,
} from '../../../src/cluster/kube/create-client.ts';
import { secrets } from '../../../src/runtime/logging/secrets.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../support/certificates.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';

interface Context {
  folder: TemporaryFolder;
  server: Server;
  authority: CertificateAuthority;
  /** Who each request said that it came from. */
  callers: string[];
  /** What is let in; everybody when undefined. */
  accepted: string | undefined;
}

const test = suite<Context>('way to an API server');
const first = createCertificateAuthority('first');
const second = createCertificateAuthority('second');
const identity = first.issue({ commonName: 'api' });
const client = first.issue({ commonName: 'somebody' });

test.before.each(async (context) => {
  context.folder = temporaryFolder('kube-connection');
  context.authority = first;
  context.callers = [];
  context.accepted = undefined;
  const options = { ...identity, ca: first.cert, requestCert: true, rejectUnauthorized: false };
  context.server = createServer(options, ({ headers, socket }, response) => {
    const { CN } = (socket as TLSSocket).getPeerCertificate().subject ?? {};
    context.callers.push(`${headers.authorization ?? 'nobody'} ${CN ?? ''}`.trim());
    const isLetIn = context.accepted === undefined || headers.authorization === context.accepted;
    response.writeHead(isLetIn ? 200 : 401).end('{}');
  });
  context.server.listen(0, '127.0.0.1');
  await once(context.server, 'listening');
});

test.after.each(async ({ server, folder }) => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  await folder.remove();
});

const portOf = ({ server }: Context) => (server.address() as AddressInfo).port;

function put({ folder }: Context, name: string, content: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
}

function inCluster(context: Context) {
  const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(portOf(context)) };
  const connection = inClusterConnection(env, context.folder.path);
  return kubeClientOver(connection ?? (assert.unreachable() as never));
}

function kubeconfig(context: Context, user: object, cluster: object = {}, name = 'config'): string {
  const server = `https://127.0.0.1:${portOf(context)}`;
  const trusted = { 'certificate-authority-data': Buffer.from(first.cert).toString('base64') };
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [{ name: 'c', cluster: { server, ...trusted, ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  return put(context, name, JSON.stringify(config));
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => assert.unreachable(),
    (error) => error,
  );

test('is known to a pod by its service account, whose token changes', async (context) => {
  put(context, 'ca.crt', first.cert);
  put(context, 'token', 'first-token\n');
  const kube = inCluster(context);
  await kube.request({ path: '/x' });
  put(context, 'token', 'second-token\n');
  await kube.request({ path: '/x' });
  assert.equal(context.callers, ['Bearer first-token', 'Bearer second-token']);
  assert.not.match(secrets.redact('second-token'), /second/);
  kube.close();
});

test('follows a change of the authority behind it', async (context) => {
  put(context, 'token', 'a-token');
  put(context, 'ca.crt', second.cert);
  const kube = inCluster(context);
  assert.is((await failure(kube.request({ path: '/x' }))).code, 'KUBE_UNTRUSTED');
  put(context, 'ca.crt', second.cert + first.cert);
  await kube.request({ path: '/x' });
  assert.is(context.callers.length, 1);
  kube.close();
});

test('says what a pod without a token lacks', async (context) => {
  put(context, 'ca.crt', first.cert);
  const error = await failure(inCluster(context).request({ path: '/x' }));
  assert.is(error.code, 'KUBE_CREDENTIALS');
  assert.is(error.exitStatus, 78);
  assert.match(error.nextStep, /automountServiceAccountToken/);
});

test('brackets an IPv6 address', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  assert.is(inClusterConnection(env)?.server.href, 'https://[fd00::1]/');
});

test('is read from a kubeconfig: token, certificate, name and password', async (context) => {
  const certificate = {
    'client-certificate': put(context, 'cert', client.cert),
    'client-key': put(context, 'key', client.key),
  };
  for (const user of [{ token: 'a-token' }, certificate, { username: 'me', password: 'mine' }]) {
    const kube = await createKubeClient({ KUBECONFIG: kubeconfig(context, user) });
    await kube?.request({ path: '/x' });
    kube?.close();
  }
  const basic = `Basic ${Buffer.from('me:mine').toString('base64')}`;
  assert.equal(context.callers, ['Bearer a-token', 'nobody somebody', basic]);
});

test('trusts no other authority than that of the kubeconfig', async (context) => {
  const other = { 'certificate-authority-data': Buffer.from(second.cert).toString('base64') };
  const kube = await createKubeClient({ KUBECONFIG: kubeconfig(context, { token: 'a-token' }, other) });
  assert.is((await failure(kube?.request({ path: '/x' }) as Promise<unknown>)).code, 'KUBE_UNTRUSTED');
  assert.equal(context.callers, []);
});

test('asks an exec plugin, and again when its token is refused', async (context) => {
  const counter = put(context, 'counter', '');
  const plugin = put(
    context,
    'plugin',
    `#!/bin/sh
echo x >> ${counter}
n=$(wc -l < ${counter})
echo "{\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"token-$((n))\\"}}"
`,
  );
  chmodSync(plugin, 0o755);
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never' };
  const kube = await createKubeClient({ KUBECONFIG: kubeconfig(context, { exec }) });
  await kube?.request({ path: '/x' });
  context.accepted = 'Bearer token-2';
  await kube?.request({ path: '/x' });
  assert.equal(context.callers, ['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
});

test('says that an exec plugin has failed', async (context) => {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '/bin/false' };
  const kube = await createKubeClient({ KUBECONFIG: kubeconfig(context, { exec }) });
  const error = await failure(kube?.request({ path: '/x' }) as Promise<unknown>);
  assert.is(error.code, 'KUBE_CONFIG');
  assert.match(error.message, /plugin \/bin\/false failed with status 1/);
});

test('is refused where the kubeconfig is no use', async (context) => {
  const nothing = put(context, 'nothing', '{}');
  const garbage = put(context, 'garbage', '}{');
  for (const path of [nothing, garbage, join(context.folder.path, 'missing')]) {
    const error = await failure(findKubeConnection({ KUBECONFIG: path }));
    assert.equal([error.code, error.exitStatus], ['KUBE_CONFIG', 78], path);
    assert.match(error.message, new RegExp(path));
  }
});

test('is looked for in KUBECONFIG, then in the pod, then at home', async (context) => {
  const home = context.folder.path;
  mkdirSync(join(home, '.kube'));
  kubeconfig(context, { token: 't' }, {}, '.kube/config');
  const named = kubeconfig(context, { token: 't' });
  const pod = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '1' };
  const origin = async (env: Record<string, string>) => (await findKubeConnection(env))?.origin;
  assert.is(await origin({ KUBECONFIG: named, ...pod, HOME: home }), named);
  assert.is(await origin({ KUBECONFIG: '', ...pod, HOME: home }), 'service account');
  assert.is(await origin({ HOME: home }), join(home, '.kube', 'config'));
  assert.is(await origin({ HOME: '/nowhere' }), undefined);
});

test.run();
