import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { basic, type Registry, startRegistry } from '../../../support/registry.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { commandOf, createRig, failureOf, podWith, pullSecret, type Rig, type RigOptions } from './rig.ts';

interface Context {
  registry: Registry;
  /** Of another authority. */
  other: Registry;
  rigs: Rig[];
  /** With each as the mirror of itself: one of this machine would be taken for one without TLS otherwise. */
  rig(options?: RigOptions): Rig;
}

const test = suite<Context>('registries of a private authority, or that only nodes open');
const authority = createCertificateAuthority('company CA');
const known = createCertificateAuthority('known CA');
const usual = getCACertificates('default');
const folder = temporaryFolder('registry-credentials');
const credentialsPath = join(folder.path, 'config.json');

test.before(async (context) => {
  // what the machine trusts is read once for a process: before the first connection
  setDefaultCACertificates([...usual, known.cert]);
  context.registry = await startRegistry({ users: true, authority });
  context.other = await startRegistry({ authority: known });
  await context.registry.push('team/app', 'v1', { entrypoint: ['/private'] });
  await context.other.push('team/app', 'v1', { entrypoint: ['/known'] });
  context.rig = (options = {}) => {
    const mirrors = [context.registry, context.other].map(({ host, url }) => `${host}=${url}`);
    const rig = createRig(mirrors, options);
    context.rigs.push(rig);
    return rig;
  };
});
test.before.each((context) => {
  context.rigs = [];
});
test.after.each(({ rigs }) => {
  for (const rig of rigs) rig.stop();
});
test.after(async ({ registry, other }) => {
  setDefaultCACertificates(usual);
  await registry?.stop();
  await other?.stop();
  await folder.remove();
});

const imageOf = ({ host }: Registry) => `${host}/team/app:v1`;
const writeCredentials = (host: string, user: 'alice' | 'bob', more = '') =>
  writeFileSync(
    credentialsPath,
    JSON.stringify({ auths: { [host]: { auth: basic(user).slice('Basic '.length) } } }) + more,
  );

function withSecret(rig: Rig, registry: Registry) {
  rig.objects.secrets.set('pull', pullSecret({ [registry.host]: 'bob' }));
  return podWith({ pullSecrets: ['pull'] });
}

test('are refused while their authority is unknown', async ({ registry, rig }) => {
  const without = rig();
  const failure = await failureOf(commandOf(without, imageOf(registry), withSecret(without, registry)));
  assert.match(failure, /team\/app:v1: its registry did not say/);
});

test('are read once it is known, beside those that the machine trusts', async ({ registry, other, rig }) => {
  const trusting = rig({ authorities: authority.cert });
  const pod = withSecret(trusting, registry);
  assert.equal((await commandOf(trusting, imageOf(registry), pod))?.entrypoint, ['/private']);
  assert.equal((await commandOf(trusting, imageOf(other)))?.entrypoint, ['/known']);
});

test('are opened by credentials of the operator where the pod has none', async ({ registry, rig }) => {
  const authorities = authority.cert;
  const closed = rig({ authorities });
  await failureOf(commandOf(closed, imageOf(registry)));
  writeCredentials(registry.host, 'alice');
  const open = rig({ authorities, credentialsPath });
  assert.equal((await commandOf(open, imageOf(registry)))?.entrypoint, ['/private']);
});

test('are opened by what the file holds now', async ({ registry, rig }) => {
  const open = rig({ authorities: authority.cert, credentialsPath });
  writeCredentials('elsewhere.example', 'alice');
  await failureOf(commandOf(open, imageOf(registry)));
  open.pass(11_000);
  writeCredentials(registry.host, 'alice');
  assert.equal((await commandOf(open, imageOf(registry)))?.entrypoint, ['/private']);
});

test('say that the file cannot be used, and nothing of what is in it', async ({ registry, rig }) => {
  const open = rig({ authorities: authority.cert, credentialsPath });
  writeCredentials(registry.host, 'alice', 'trailing');
  const failure = await failureOf(commandOf(open, imageOf(registry)));
  assert.match(failure, /the operator's own credentials cannot be used/);
  assert.not.match(failure, new RegExp(basic('alice').slice('Basic '.length)));
  assert.not.match(open.log.join('\n'), /alice/);
});

test.run();
