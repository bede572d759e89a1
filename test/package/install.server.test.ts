import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureBuilt } from '../cli/support/svc.ts';
import { npm, npmEnv, npmPack } from '../support/npm.ts';
import { type NpmRegistry, startNpmRegistry } from '../support/npm-registry.ts';
import { runCommand } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { installedPackages, ROOT } from './support.ts';

/** Starts many programs one after the other. */
export const timeout = 300_000;

const test = suite('the package, installed');
const folder = temporaryFolder('install');
const consumer = join(folder.path, 'consumer');
let tarball: string;
let registry: NpmRegistry;

test.before(async () => {
  await ensureBuilt();
  tarball = (await npmPack(ROOT, folder.path)).file;
  registry = await startNpmRegistry(installedPackages());
  mkdirSync(consumer);
  writeFileSync(join(consumer, 'package.json'), '{"name":"consumer","private":true}');
});

test.after(async () => {
  await registry?.stop();
  await folder.remove();
});

const svc = (words: readonly string[], cwd = consumer) =>
  runCommand(process.execPath, [join(consumer, 'node_modules', 'svc', 'bin', 'run.js'), ...words], cwd, {
    env: { HOME: folder.path, KUBECONFIG: '' },
  });

test('goes into an empty folder, without scripts and without what it needs for development', async () => {
  const { status, stderr } = await npm(
    ['install', '--ignore-scripts', '--omit=optional', tarball],
    consumer,
    {
      registry: registry.url,
    },
  );
  assert.is(status, 0, stderr);
  for (const name of ['esbuild', 'typescript', '@kubernetes/client-node', '@aws-sdk/client-s3', 'pino'])
    assert.not.ok(existsSync(join(consumer, 'node_modules', name)), name);
});

test('says its version, its help and its components', async () => {
  const version = await svc(['--version']);
  assert.match(version.stdout, /^svc\/\d+\.\d+\.\d+ /, version.stderr);
  assert.match((await svc(['--help'])).stdout, /USAGE/);
  assert.match((await svc(['run'])).stdout, /proxy +Encrypt/);
});

test('every command loads', async () => {
  for (const words of [
    ['audit'],
    ['completion', 'bash'],
    ['dev'],
    ['netpol'],
    ['validate'],
    ['proxy', 'gc'],
    ['plugins'],
  ]) {
    const { status, stdout, stderr } = await svc([...words, '--help']);
    assert.is(status, 0, stderr);
    assert.match(stdout, /USAGE/);
  }
});

test('writes network policies without a cluster', async () => {
  const words =
    '--vault-address https://192.0.2.7:8200 --no-cluster --namespace shop --api-server 10.96.0.1:443';
  const { status, stdout, stderr } = await svc(['netpol', ...words.split(' ')]);
  assert.is(status, 0, stderr);
  assert.match(stdout, /name: svc-egress-shop/);
});

test('gives programs its two interfaces', async () => {
  const program = `const { open } = await import('svc/secrets'); const { apiLevel } = await import('svc/plugin');
    console.log(typeof open, apiLevel);`;
  const { stdout, stderr } = await runCommand(
    process.execPath,
    ['--input-type=module', '-e', program],
    consumer,
  );
  assert.is(stdout, 'function 1\n', stderr);
});

test('npx runs it from the tarball', async () => {
  const empty = join(folder.path, 'empty');
  mkdirSync(empty);
  const args = ['exec', '--yes', '--omit=optional', `--package=${tarball}`, '--', 'svc', '--version'];
  const { status, stdout, stderr } = await npm(args, empty, {
    registry: registry.url,
    env: npmEnv({ registry: registry.url, env: { npm_config_ignore_scripts: 'true' } }),
  });
  assert.is(status, 0, stderr);
  assert.match(stdout, /^svc\/\d/);
});

test.run();
