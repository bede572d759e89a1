import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../support/http.ts';
import { repetitions } from '../../support/repetitions.ts';
import { type Rig, startRig } from '../../support/rig.ts';
import { runCommand } from '../../support/run-command.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import {
  type CloudCredentials,
  type CloudEndpoints,
  containerToken,
  identityToken,
  ssoToken,
  startCloudEndpoints,
} from './cloud-endpoints.ts';

export const timeout = 240_000;
const test = suite('credentials of a cloud, in what is shipped');
const entry = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));
const preload = fileURLToPath(new URL('./fixtures/container-address.mjs', import.meta.url));

let rig: Rig;
let cloud: CloudEndpoints;
let home: TemporaryFolder;

test.before(async () => {
  home = temporaryFolder('cloud');
  rig = await startRig({ kind: 'minio' });
  cloud = await startCloudEndpoints(await temporaryCredentials());
});

test.after(async () => {
  await cloud?.stop();
  await rig?.stop();
  await home?.remove();
});

/** Of MinIO's own STS; the store takes them with their session token only. */
async function temporaryCredentials(): Promise<CloudCredentials> {
  writeFiles(roleFiles());
  const { sessionToken, ...keys } = await defaultProvider({
    profile: 'role',
    configFilepath: inHome('.aws/config'),
    filepath: inHome('.aws/credentials'),
    clientConfig: { endpoint: rig.store.endpoint, region: rig.store.region },
  })();
  if (!sessionToken) throw new Error('MinIO gave no session token');
  return { ...keys, sessionToken };
}

function writeFiles(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(inHome(path)), { recursive: true });
    writeFileSync(inHome(path), text);
  }
}

type Variables = Readonly<Record<string, string>>;

interface Provider {
  readonly files?: () => Readonly<Record<string, string>>;
  readonly env: () => Variables;
  /** What the endpoint must have been asked; none where nothing is asked. */
  readonly asked?: string;
}

const inHome = (name: string) => join(home.path, name);
const keys = ({ accessKeyId, secretAccessKey }: { accessKeyId: string; secretAccessKey: string }) =>
  `aws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`;
const roleFiles = () => ({
  '.aws/config': '[profile role]\nrole_arn = arn:aws:iam::123456789012:role/store\nsource_profile = base\n',
  '.aws/credentials': `[base]\n${keys(rig.store)}`,
});
const sso = () => `${createHash('sha1').update('company').digest('hex')}.json`;
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

const providers: Readonly<Record<string, Provider>> = {
  'a profile of the shared credentials file': {
    files: () => ({ '.aws/credentials': `[backup]\n${keys(rig.store)}` }),
    env: () => ({ AWS_PROFILE: 'backup' }),
  },
  'a profile that assumes a role': {
    files: () => roleFiles(),
    env: () => ({ AWS_PROFILE: 'role', AWS_ENDPOINT_URL_STS: rig.store.endpoint }),
  },
  'a web identity': {
    files: () => ({ token: identityToken }),
    env: () => ({
      AWS_WEB_IDENTITY_TOKEN_FILE: inHome('token'),
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/store',
      AWS_ENDPOINT_URL_STS: cloud.url,
    }),
    asked: 'POST / AssumeRoleWithWebIdentity',
  },
  'the whole address of a container': {
    files: () => ({ authorization: containerToken }),
    env: () => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${cloud.url}/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: inHome('authorization'),
    }),
    asked: 'GET /container',
  },
  'the path of a container': {
    env: () => ({
      AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/container',
      AWS_CONTAINER_AUTHORIZATION_TOKEN: containerToken,
      CONTAINER_PORT: String(cloud.port),
    }),
    asked: 'GET /container',
  },
  'the metadata of a machine': {
    env: () => ({ AWS_EC2_METADATA_DISABLED: 'false', AWS_EC2_METADATA_SERVICE_ENDPOINT: cloud.url }),
    asked: 'GET /latest/meta-data/iam/security-credentials/node-role',
  },
  'a cached single sign-on': {
    files: () => ({
      '.aws/config':
        '[profile people]\nsso_session = company\nsso_account_id = 123456789012\nsso_role_name = store\n' +
        `[sso-session company]\nsso_region = us-east-1\nsso_start_url = ${cloud.url}/start\n`,
      [`.aws/sso/cache/${sso()}`]: JSON.stringify({ accessToken: ssoToken, expiresAt: inAnHour() }),
    }),
    env: () => ({ AWS_PROFILE: 'people', AWS_ENDPOINT_URL_SSO: cloud.url }),
    asked: 'GET /federation/credentials?account_id=123456789012&role_name=store',
  },
  'a process': {
    files: () => ({
      '.aws/config': `[profile helper]\ncredential_process = cat ${inHome('process.json')}\n`,
      'process.json': JSON.stringify({
        Version: 1,
        AccessKeyId: rig.store.accessKeyId,
        SecretAccessKey: rig.store.secretAccessKey,
      }),
    }),
    env: () => ({ AWS_PROFILE: 'helper' }),
  },
};

const all = Object.entries(providers);
/** How many of them are tried with every command: all commands ask in the same way. */
const withEach = repetitions(2, all.length);

for (const [index, [name, provider]] of all.entries()) {
  const commands = index < withEach ? ['proxy', 'gc', 'audit', 'validate'] : ['proxy'];
  test(`${name} opens the store to ${commands.join(', ')}`, async () => {
    writeFiles(provider.files?.() ?? {});
    const env = provider.env();
    for (const command of commands) {
      const use = users[command] as (typeof users)[string];
      await use(env);
      const requests = cloud.takeRequests();
      if (provider.asked) assert.ok(requests.includes(provider.asked), `${command}: ${requests.join(', ')}`);
    }
  });
}

test('what gives no credentials is named in the log, and is not taken for want of configuration', async () => {
  const ran = await svc({ AWS_PROFILE: 'absent' }, 'proxy', 'gc');
  assert.is(ran.status, 69, ran.stderr);
  const line = JSON.parse(
    ran.stderr.split('\n').find((text) => text.includes('credentials.missing')) ?? '{}',
  );
  assert.is(line.source, 'AWS_PROFILE');
  assert.match(line.next, /what AWS_PROFILE names/);
});

/** Each does what needs the store, and fails where it has no credentials for it. */
const users: Readonly<Record<string, (env: Variables) => Promise<void>>> = {
  async proxy(env) {
    const proxy = await startSvcProxy({
      upstream: { ...rig.store, accessKeyId: '', secretAccessKey: '' },
      vault: { addr: rig.bao.url, token: rig.token },
      env: environment(env),
      nodeArgs: ['--import', preload],
    });
    try {
      const url = `${proxy.url}/${rig.bucket}/object`;
      const put = await http(url, { method: 'PUT', body: 'plaintext' });
      assert.is(put.status, 200, `${put.text}\n${proxy.output()}`);
      assert.is((await http(url)).text, 'plaintext');
    } finally {
      await proxy.stop();
    }
  },
  async gc(env) {
    const ran = await svc(env, 'proxy', 'gc');
    assert.is(ran.status, 0, ran.stderr);
  },
  async audit(env) {
    const ran = await svc(env, 'audit', '--bucket', rig.bucket, '--json');
    assert.is(ran.status, 0, ran.stderr);
    assert.is(JSON.parse(ran.stdout).tally.encrypted, 1, ran.stdout);
  },
  async validate(env) {
    const ran = await svc(env, 'validate', '--pre', '--area', 'proxy-store', '-o', 'json');
    const states = JSON.parse(ran.stdout).checks.map(({ id, state }: Record<string, string>) => [id, state]);
    const { 'SVC-STORE-001': reached, 'SVC-STORE-002': encrypts } = Object.fromEntries(states);
    assert.equal([reached, encrypts], ['passed', 'passed'], ran.stdout);
  },
};

function svc(env: Variables, ...args: string[]) {
  const more = {
    SVC_PROXY_UPSTREAM: rig.store.endpoint,
    SVC_VALIDATE_BUCKET: rig.bucket,
    AWS_REGION: rig.store.region,
    VAULT_ADDR: rig.bao.url,
    VAULT_TOKEN: rig.token,
    ...environment(env),
  };
  return runCommand(process.execPath, ['--import', preload, entry, ...args], home.path, { env: more });
}

/** The rest of this machine's own configuration of AWS is out of sight. */
function environment(env: Variables): Variables {
  return {
    AWS_EC2_METADATA_DISABLED: 'true',
    HOME: home.path,
    AWS_CONFIG_FILE: inHome('.aws/config'),
    AWS_SHARED_CREDENTIALS_FILE: inHome('.aws/credentials'),
    ...env,
  };
}

test.run();
