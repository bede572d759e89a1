import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Duplex, pipeline } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import { listen } from '../../support/loopback.ts';
import { runOnPty } from '../../support/pty.ts';
import { runCommand } from '../../support/run-command.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import { requireTool } from '../../testbed/ensure.ts';
import { type RecordingApiServer, refuse, startRecordingApiServer } from './support/recording-api-server.ts';

interface Rig {
  folder: TemporaryFolder;
  /** The cluster that is meant, and another. */
  api: RecordingApiServer;
  other: RecordingApiServer;
}

export const timeout = 300_000;
const test = suite<Rig>('a kubeconfig, as svc and kubectl read it');
const entry = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));
const authority = createCertificateAuthority();
const identity = authority.issue({ commonName: 'api', dnsNames: ['localhost', 'api.test.example'] });
const execVersion = 'client.authentication.k8s.io/v1';
let kubernetes = '';

test.before(async () => {
  ({ kubernetes = '' } = (await requireTool('kubernetes')).bins);
});

test.before.each(async (rig) => {
  rig.folder = temporaryFolder('kubeconfig');
  [rig.api, rig.other] = [await startRecordingApiServer(identity), await startRecordingApiServer(identity)];
});

test.after.each(async ({ api, other, folder }) => {
  await api.stop();
  await other.stop();
  await folder.remove();
});

function put({ folder }: Rig, name: string, content: string, mode = 0o600): string {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

interface Parts {
  readonly user?: object;
  readonly cluster?: object;
  readonly context?: object;
  /** Of the context and what it names. */
  readonly name?: string;
}

function kubeconfig(rig: Rig, file: string, { user, cluster, context, name = file }: Parts = {}): string {
  const trusted = { 'certificate-authority-data': Buffer.from(authority.cert).toString('base64') };
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': name },
    clusters: [{ name, cluster: { server: rig.api.url, ...trusted, ...cluster } }],
    users: [{ name, user: user ?? { token: `token-of-${file}` } }],
    contexts: [{ name, context: context ?? { cluster: name, user: name } }],
  };
  return put(rig, file, JSON.stringify(config));
}

type Env = Readonly<Record<string, string>>;

const run = ({ folder }: Rig, command: readonly string[], env: Env) =>
  runCommand(command[0] as string, command.slice(1), folder.path, { env: { HOME: folder.path, ...env } });
const svc = (rig: Rig, args: readonly string[], env: Env) =>
  run(rig, [process.execPath, entry, ...args], { NODE_NAME: '', ...env });
const kubectl = (rig: Rig, env: Env) =>
  run(rig, [kubernetes, 'kubectl', 'get', '--raw', '/api/v1/pods'], env);

/** Who asked what each server was asked by, each once. */
async function asked(rig: Rig, ask: () => ReturnType<typeof run>) {
  for (const { callers } of [rig.api, rig.other]) callers.length = 0;
  const { status, stdout, stderr } = await ask();
  return {
    ...{ status, stdout, stderr },
    seen: [rig.api, rig.other].map(({ callers }) => [...new Set(callers)].sort()),
  };
}

/** That all are seen as the same callers by the same servers. @returns what the first server saw of them */
async function askAlike(rig: Rig, env: Env): Promise<unknown> {
  const theirs = await asked(rig, () => kubectl(rig, env));
  assert.is(theirs.status, 0, theirs.stderr);
  for (const args of [['audit', '-o', 'json'], ['netpol']]) {
    const ours = await asked(rig, () => svc(rig, args, env));
    assert.is(ours.status, 0, `${args[0]}: ${ours.stderr}`);
    assert.equal(ours.seen, theirs.seen, args[0]);
  }
  const [[caller = ''] = []] = theirs.seen;
  return JSON.parse(caller);
}

test('the first of several files decides, and nothing is asked of the cluster of another', async (rig) => {
  const first = kubeconfig(rig, 'first');
  const last = kubeconfig(rig, 'last', { cluster: { server: rig.other.url } });
  const seen = await askAlike(rig, { KUBECONFIG: `${first}:${last}` });
  assert.equal(seen, { authorization: ['Bearer token-of-first'] });
});

test('a file may be missing or empty, leave names to others, or have the same names', async (rig) => {
  const empty = put(rig, 'empty', '\n# nothing\n');
  const first = kubeconfig(rig, 'first', { name: 'same' });
  const twin = kubeconfig(rig, 'twin', { name: 'same', cluster: { server: rig.other.url } });
  const missing = join(rig.folder.path, 'missing');
  const only = put(rig, 'only', '{"current-context":"same"}');
  const seen = await askAlike(rig, { KUBECONFIG: [missing, empty, only, first, twin].join(':') });
  assert.equal(seen, { authorization: ['Bearer token-of-first'] });
});

test('entries that are not used need not be right', async (rig) => {
  const { users, contexts, clusters, ...rest } = JSON.parse(readFileSync(kubeconfig(rig, 'used'), 'utf8'));
  const config = { ...rest, users, contexts, clusters: [...clusters, { name: 'bad', cluster: {} }] };
  await askAlike(rig, { KUBECONFIG: put(rig, 'mixed', JSON.stringify(config)) });
});

test('a context without a user is anonymous, and verifies the server; kubectl asks for a name', async (rig) => {
  const env = { KUBECONFIG: kubeconfig(rig, 'nobody', { context: { cluster: 'nobody' } }) };
  assert.match((await kubectl(rig, env)).stdout, /Please enter Username/);
  const { status, seen, stderr } = await asked(rig, () => svc(rig, ['audit', '-o', 'json'], env));
  assert.is(status, 0, stderr);
  assert.equal(seen, [['{}'], []]);
});

test('a token may stand in a file beside the kubeconfig', async (rig) => {
  mkdirSync(join(rig.folder.path, 'sub'));
  put(rig, 'sub/token', 'token-of-a-file\n');
  const path = kubeconfig(rig, 'sub/config', { user: { tokenFile: 'token' } });
  assert.equal(await askAlike(rig, { KUBECONFIG: path }), { authorization: ['Bearer token-of-a-file'] });
});

test('a file with a token overrides the token', async (rig) => {
  put(rig, 'token', 'newer');
  const path = kubeconfig(rig, 'config', { user: { token: 'older', tokenFile: 'token' } });
  assert.equal(await askAlike(rig, { KUBECONFIG: path }), { authorization: ['Bearer newer'] });
});

test('somebody else is impersonated with UID, groups and more', async (rig) => {
  const extra = { 'example.org/Team': ['a', 'b'], scopes: ['view'] };
  const as = { as: 'jane', 'as-uid': '17', 'as-groups': ['dev', 'ops'], 'as-user-extra': extra };
  const path = kubeconfig(rig, 'config', { user: { token: 't', ...as } });
  assert.equal(await askAlike(rig, { KUBECONFIG: path }), {
    authorization: ['Bearer t'],
    'impersonate-extra-example.org%2fteam': ['a', 'b'],
    'impersonate-extra-scopes': ['view'],
    'impersonate-group': ['dev', 'ops'],
    'impersonate-uid': ['17'],
    'impersonate-user': ['jane'],
  });
});

test('a server without TLS is asked, and told no credentials', async (rig) => {
  const plain = await startRecordingApiServer();
  const secure = rig.api;
  rig.api = plain;
  try {
    const path = kubeconfig(rig, 'config', { user: { token: 't', as: 'jane' } });
    assert.equal(await askAlike(rig, { KUBECONFIG: path }), { 'impersonate-user': ['jane'] });
  } finally {
    rig.api = secure;
    await plain.stop();
  }
});

test('HTTPS_PROXY leads to it, and proxy-url instead', async (rig) => {
  const tunnels: string[] = [];
  const open = new Set<Duplex>();
  const proxy = createServer().on('connect', (request, socket) => {
    tunnels.push(request.url ?? '');
    const upstream = connect(rig.api.port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    for (const end of [socket, upstream]) open.add(end.on('error', () => undefined));
    pipeline(socket, upstream, socket, () => undefined);
  });
  const { url, address, stop } = await listen(proxy);
  const server = 'https://api.test.example:6443';
  try {
    const path = kubeconfig(rig, 'config', { cluster: { server } });
    for (const env of [{ HTTPS_PROXY: url }, { https_proxy: address, NO_PROXY: 'test.example:443' }]) {
      tunnels.length = 0;
      await askAlike(rig, { KUBECONFIG: path, ...env });
      assert.equal(new Set(tunnels), new Set(['api.test.example:6443']));
    }
    const named = kubeconfig(rig, 'named', { cluster: { server, 'proxy-url': url } });
    await askAlike(rig, { KUBECONFIG: named, HTTPS_PROXY: 'http://127.0.0.1:1' });
    // loopback is never asked for through a proxy of the environment
    await askAlike(rig, { KUBECONFIG: kubeconfig(rig, 'near'), HTTPS_PROXY: 'http://127.0.0.1:1' });
  } finally {
    for (const each of open) each.destroy();
    await stop();
  }
});

/** A credential plugin that keeps what it was told. */
function plugin(rig: Rig, script: string): string {
  const told = join(rig.folder.path, 'told');
  rmSync(told, { force: true });
  put(rig, 'plugin', `#!/bin/sh\necho $KUBERNETES_EXEC_INFO >> ${told}\n${script}\n`, 0o700);
  return told;
}

const gives = (status: object) =>
  `cat <<'END'\n${JSON.stringify({ apiVersion: execVersion, kind: 'ExecCredential', status })}\nEND`;

const exec = (more: object = {}) => ({
  exec: { apiVersion: execVersion, command: './plugin', interactiveMode: 'IfAvailable', ...more },
});

test('a credential plugin runs once, is seen, and is told what kubectl tells it', async (rig) => {
  const told = plugin(rig, `echo 'Log in with code ABCD' >&2; sleep 0.3; ${gives({ token: 'of-plugin' })}`);
  const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'here' } }];
  for (const provideClusterInfo of [false, true]) {
    const user = exec({ provideClusterInfo });
    const path = kubeconfig(rig, 'config', { user, cluster: { extensions } });
    assert.equal(await askAlike(rig, { KUBECONFIG: path }), { authorization: ['Bearer of-plugin'] });
    const [theirs, ...ours] = readFileSync(told, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(ours, [theirs, theirs]);
    rmSync(told);
  }
  const path = kubeconfig(rig, 'config', { user: exec() });
  for (const ask of [
    () => kubectl(rig, { KUBECONFIG: path }),
    () => svc(rig, ['audit'], { KUBECONFIG: path }),
  ])
    assert.match((await ask()).stderr, /^Log in with code ABCD\n/);
});

test('a credential plugin may read what is typed', async (rig) => {
  const told = plugin(
    rig,
    `read code; ${gives({ token: 'of-CODE' }).replace("'END'", 'END').replace('CODE', '$code')}`,
  );
  const path = kubeconfig(rig, 'config', { user: exec() });
  const { HOME, PATH } = { HOME: rig.folder.path, PATH: process.env['PATH'] };
  for (const command of [
    [kubernetes, 'kubectl', 'get', '--raw', '/api/v1/pods'],
    [process.execPath, entry, 'audit', '-o', 'json'],
  ]) {
    const { status, seen, stdout } = await asked(rig, async () => {
      let stdout = '';
      const onOutput = (text: string) => {
        stdout += text;
      };
      const env = cleanEnv({ HOME, PATH, KUBECONFIG: path });
      const pty = runOnPty(command, { rows: 24, columns: 200, env, onOutput });
      pty.type('1234\n');
      return { status: await pty.exited, stdout, stderr: '' };
    });
    assert.is(status, 0, stdout);
    assert.equal(seen, [['{"authorization":["Bearer of-1234"]}'], []]);
  }
  const infos = readFileSync(told, 'utf8').trim().split('\n');
  assert.match(infos[0] ?? '', /"interactive":true/);
  assert.equal(JSON.parse(infos[1] ?? ''), JSON.parse(infos[0] ?? ''));
});

test('a credential plugin may give a certificate, and does not run beside other credentials', async (rig) => {
  const { cert: clientCertificateData, key: clientKeyData } = authority.issue({ commonName: 'jane' });
  const told = plugin(rig, gives({ clientCertificateData, clientKeyData }));
  assert.equal(await askAlike(rig, { KUBECONFIG: kubeconfig(rig, 'config', { user: exec() }) }), {});
  assert.is(readFileSync(told, 'utf8').trim().split('\n').length, 3);
  rmSync(told);
  const user = { ...exec(), token: 't' };
  const path = kubeconfig(rig, 'config', { user });
  assert.equal(await askAlike(rig, { KUBECONFIG: path }), { authorization: ['Bearer t'] });
  assert.not.ok(existsSync(told));
});

test('a credential that is refused is asked for once more', async (rig) => {
  const told = plugin(rig, gives({ token: 't' }));
  rig.api.answer = (_request, response) => refuse(response, 401);
  const path = kubeconfig(rig, 'config', { user: exec() });
  const { status, stderr } = await svc(rig, ['audit'], { KUBECONFIG: path });
  assert.is(status, 4, stderr);
  assert.is(readFileSync(told, 'utf8').trim().split('\n').length, 2);
});

for (const [what, script, more, theirs, ours] of [
  [
    'that fails',
    "echo 'token expired, run: aws sso login' >&2; exit 254",
    {},
    /token expired[\s\S]*failed with exit code 254/,
    /plugin failed with status 254: token expired, run: aws sso login \(KUBE_CONFIG\)/,
  ],
  [
    'that is not there',
    '',
    { command: 'no-such-plugin-xyz', installHint: 'Install it with:\n  brew install xyz' },
    /no-such-plugin-xyz not found[\s\S]*brew install xyz/,
    /no-such-plugin-xyz is not installed \(KUBE_CONFIG\)\nNext: +Install it with: brew install xyz\n/,
  ],
  ['that prints something else', 'echo hello', {}, /decoding stdout/, /plugin printed no ExecCredential/],
  ['that gives nothing', gives({}), {}, /token or cert/, /plugin gave neither a token nor a certificate/],
  [
    'that needs a terminal',
    gives({ token: 't' }),
    { interactiveMode: 'Always' },
    /standard input is not a terminal/,
    /plugin cannot run: standard input is not a terminal/,
  ],
] as const) {
  test(`a credential plugin ${what} is told with its own words`, async (rig) => {
    const told = plugin(rig, script);
    const path = kubeconfig(rig, 'config', { user: exec(more) });
    const refused = await kubectl(rig, { KUBECONFIG: path });
    assert.is(refused.status, 1);
    assert.match(refused.stderr, theirs);
    rmSync(told, { force: true });
    for (const [command, expected] of [
      ['audit', 3],
      ['netpol', 4],
    ] as const) {
      const { status, stdout, stderr } = await svc(rig, [command], { KUBECONFIG: path });
      assert.match(stderr, ours);
      assert.equal([status, stdout], [expected, ''], command);
    }
  });
}

test('a certificate of an unknown authority is a matter of configuration, and is said', async (rig) => {
  const unknown = Buffer.from(createCertificateAuthority('other').cert).toString('base64');
  for (const [cluster, theirs, ours] of [
    [{ 'certificate-authority-data': unknown }, /x509/, /not trusted: .*certificate/],
    [{ 'tls-server-name': 'elsewhere.example' }, /x509/, /not trusted: .*elsewhere\.example/],
  ] as const) {
    const env = { KUBECONFIG: kubeconfig(rig, 'config', { cluster }) };
    assert.match((await kubectl(rig, env)).stderr, theirs);
    for (const command of ['audit', 'netpol']) {
      const { status, stdout, stderr } = await svc(rig, [command], env);
      assert.match(stderr, ours);
      assert.match(stderr, /\(KUBE_UNTRUSTED\)/);
      assert.equal([status, stdout], [3, ''], command);
    }
    const report = await svc(rig, ['validate', '--check', 'SVC-OPERATOR-001', '-o', 'short'], env);
    assert.match(report.stdout, ours);
    assert.is(report.status, 4);
  }
});

test('a server that is away is told with the reason', async (rig) => {
  const env = { KUBECONFIG: kubeconfig(rig, 'config', { cluster: { server: 'https://127.0.0.1:1' } }) };
  assert.match((await kubectl(rig, env)).stderr, /refused/);
  for (const command of ['audit', 'netpol']) {
    const { status, stderr } = await svc(rig, [command], env);
    assert.match(stderr, /does not answer: connect ECONNREFUSED/);
    assert.is(status, 4, command);
  }
});

test('credentials that are not accepted are renewed by logging in, not by permissions', async (rig) => {
  rig.api.answer = (_request, response) => refuse(response, 401);
  const env = { KUBECONFIG: kubeconfig(rig, 'config') };
  assert.match((await kubectl(rig, env)).stderr, /must be logged in|Unauthorized|made up 401/);
  for (const command of ['audit', 'netpol']) {
    const { status, stderr } = await svc(rig, [command], env);
    assert.match(stderr, /401[\s\S]*\(KUBE_UNAUTHENTICATED\)\nNext: +Log in again/);
    assert.not.match(stderr, /permission/);
    assert.is(status, 4, command);
  }
  const report = await svc(rig, ['validate', '--check', 'SVC-OPERATOR-001', '-o', 'short'], env);
  assert.match(report.stdout, /made up 401/);
  assert.not.match(report.stdout, /allowed to|permission/);
});

test('a server that asks to wait is asked again after that', async (rig) => {
  for (const [code, ask] of [
    [429, kubectl],
    [429, (rig: Rig, env: Env) => svc(rig, ['netpol'], env)],
    [503, (rig: Rig, env: Env) => svc(rig, ['audit', '-o', 'json'], env)],
  ] as const) {
    let refusedAt: number | undefined;
    let waited = 0;
    rig.api.answer = (_request, response) => {
      if (refusedAt === undefined) {
        refusedAt = performance.now();
        return refuse(response, code, { 'retry-after': '1' });
      }
      waited = performance.now() - refusedAt;
      return false;
    };
    const { status, stderr } = await ask(rig, { KUBECONFIG: kubeconfig(rig, 'config') });
    assert.is(status, 0, stderr);
    assert.ok(waited > 900, `${waited}`);
  }
});

/**
 * client-go's pager lists again without pages (tools/pager/pager.go); `kubectl get` gives up, and only says that a new
 * list may be started.
 */
test('a list whose place was forgotten begins again', async (rig) => {
  const item = (name: string) => ({
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      resourceVersion: '1',
      labels: { 'svc/protected': 'true' },
    },
    spec: { containers: [{ name: 'app', image: 'shop:1' }] },
  });
  let pages = 0;
  rig.api.answer = ({ url = '' }, response) => {
    const list = (items: readonly object[], next?: string) => {
      response.end(JSON.stringify({ metadata: { resourceVersion: '1', continue: next }, items }));
      return true;
    };
    if (url.startsWith('/api/v1/namespaces?'))
      return list([{ metadata: { name: 'shop', uid: 'shop', resourceVersion: '1' } }]);
    if (!url.startsWith('/api/v1/pods?')) return false;
    pages += 1;
    if (!url.includes('continue=')) return list([item(pages === 1 ? 'gone' : 'one')], 'more');
    return pages === 2 ? refuse(response, 410) : list([item('two')]);
  };
  const { status, stdout, stderr } = await svc(rig, ['audit', '-o', 'json'], {
    KUBECONFIG: kubeconfig(rig, 'config'),
  });
  assert.is(status, 0, stderr);
  const { workloads } = JSON.parse(stdout);
  assert.equal(workloads.map(({ name }: { name: string }) => name).sort(), ['one', 'two']);
});

test.run();
