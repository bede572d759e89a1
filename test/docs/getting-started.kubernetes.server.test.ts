import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureBuilt } from '../cli/support/svc.ts';
import { cleanEnv } from '../support/clean-env.ts';
import { type Kubernetes, startKubernetes } from '../support/kubernetes.ts';
import { startOpenBao } from '../support/openbao.ts';
import type { Replica } from '../support/operator-cluster.ts';
import { temporaryFolder } from '../support/temporary.ts';
import type { OpenBao } from '../support/types.ts';
import { sectionOf } from './guides/console.ts';
import { follow, type Reader } from './guides/follow.ts';
import { startInstalledOperator } from './guides/installed-operator.ts';
import { cloneIn, programsIn } from './guides/programs.ts';
import { openShell } from './guides/shell.ts';

export const timeout = 480_000;

interface Context {
  reader: Reader;
  kubernetes: Kubernetes;
  bao: OpenBao;
  operator: Replica;
}

const pageOf = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const page = pageOf('GETTING-STARTED.md');

const test = suite<Context>('a newcomer in a cluster');
const folder = temporaryFolder('cluster');

test.before(async (context) => {
  await ensureBuilt();
  const bin = await programsIn(folder.path, { openbao: 'bao', helm: 'helm', kubernetes: 'kubectl' });
  context.bao = await startOpenBao({ tls: true });
  context.kubernetes = await startKubernetes({ controllers: true });
  const { bao, kubernetes } = context;
  copyFileSync(bao.caFile as string, join(folder.path, 'vault-ca.pem'));
  cloneIn(folder.path, 'manifests');
  const env = cleanEnv({
    ...{ HOME: folder.path, PATH: `${bin}:${process.env['PATH']}`, LC_ALL: 'C.UTF-8' },
    ...{ KUBECONFIG: kubernetes.kubeconfig(), BAO_TOKEN: bao.rootToken },
  });
  const shell = await openShell({ cwd: folder.path, env, alone: false });
  context.reader = { shell, folder: folder.path, own: { 'https://vault.example.eu:8200': bao.url } };
});

test.after(async ({ reader, operator, kubernetes, bao }) => {
  await reader?.shell.end();
  await operator?.stop();
  await kubernetes?.stop();
  await bao?.stop();
  await folder.remove();
});

const section = (heading: string): string => sectionOf(page, heading);

test('sets the key server up', async ({ reader }) => {
  assert.ok((await follow(section('### The key server'), reader)) > 12);
});

test('installs the operator, which the test starts in place of a node', async (context) => {
  assert.ok((await follow(section('### Operator and agents'), context.reader)) > 1);
  context.operator = await startInstalledOperator(context.kubernetes, context.bao.caFile as string);
});

test('protects a workload, sees what it may reach and how well it is protected', async ({ reader }) => {
  const rest = ['### Protect a workload', '### The object store', '### What it may reach'];
  for (const heading of [...rest, '### Is everything as it has to be', '### How well is it protected'])
    assert.ok((await follow(section(heading), reader)) > 0, heading);
});

test('goes on with docs/UPGRADE.md', async ({ reader }) => {
  assert.ok((await follow(pageOf('UPGRADE.md'), reader)) > 8);
});

test.run();
