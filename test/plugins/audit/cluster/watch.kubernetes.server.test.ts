import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { launch } from '../../../support/child.ts';
import { cleanEnv } from '../../../support/clean-env.ts';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { type Pty, runOnPty } from '../../../support/pty.ts';
import { createScreen, type Screen } from '../../../support/screen.ts';
import { waitFor } from '../../../support/wait-for.ts';

const test = suite('svc audit --watch on a terminal');
const command = [process.execPath, 'bin/run.js', 'audit', '--watch'];

let kube: Kubernetes;
let namespace: string;

test.before(async () => {
  kube = await startKubernetes();
  namespace = await kube.createNamespace();
  for (const name of ['first', 'second']) await pod(name);
});

test.after(() => kube?.stop());

const path = () => `/api/v1/namespaces/${namespace}/pods`;

/** A reference to a Secret is a finding, with lines of its own. */
async function pod(name: string): Promise<void> {
  const secretKeyRef = { name: 'db', key: 'password' };
  const env = [{ name: 'PASSWORD', valueFrom: { secretKeyRef } }];
  await kube.must('POST', path(), {
    metadata: { name },
    spec: { containers: [{ name: 'app', image: 'shop:1', env }] },
  });
}

const remove = (name: string) => kube.must('DELETE', `${path()}/${name}?gracePeriodSeconds=0`);

interface Watch {
  readonly screen: Screen;
  readonly pty: Pty;
  /** Until the screen has that and has come to rest. */
  see(what: RegExp): Promise<string>;
}

async function watching(rows: number, work: (watch: Watch) => Promise<void>): Promise<void> {
  const screen = createScreen(rows, 100);
  const env = cleanEnv({ KUBECONFIG: kube.kubeconfig(), TERM: 'xterm-256color' });
  const pty = runOnPty(command, { rows, columns: 100, env, onOutput: screen.write });
  const see = (what: RegExp) =>
    waitFor(`${what} on the screen`, () => {
      const text = screen.rows.join('\n').trimEnd();
      return Promise.resolve(what.test(text) && text);
    });
  try {
    await work({ screen, pty, see });
  } finally {
    pty.kill();
    await pty.exited;
  }
}

test('draws what changes over what was there, and ends with Ctrl-C', async () => {
  await watching(50, async ({ screen, pty, see }) => {
    const before = await see(/second[\s\S]*Passed\./);
    assert.match(before, /^NAMESPACE +WORKLOAD +SCORE +PODS +MISSING\n/);
    await pod('third');
    const more = await see(/third/);
    assert.ok(more.split('\n').length > before.split('\n').length, more);
    await remove('third');
    await waitFor('the row to go', async () => !screen.rows.join('\n').includes('third'));
    assert.is(screen.rows.join('\n').trimEnd(), before);
    assert.is(screen.cursor.row, before.split('\n').length);
    pty.type('\u0003');
    assert.is(await pty.exited, 130);
    assert.is(screen.rows.join('\n').trimEnd(), `${before}\n^C`);
    assert.is(screen.cursor.column, 0);
    assert.equal([screen.scrolled, screen.unknown], [[], []]);
  });
});

test('a window that is too low shows the beginning and how it came out, and never scrolls', async () => {
  await watching(12, async ({ screen, pty, see }) => {
    const text = await see(/first[\s\S]* more lines[\s\S]*Passed\./);
    assert.match(text, /^NAMESPACE/);
    await remove('first');
    await see(/^NAMESPACE(?![\s\S]*Pod\/first)[\s\S]*second/);
    assert.equal([screen.scrolled, screen.unknown], [[], []]);
    pty.type('\u0003');
    assert.is(await pty.exited, 130);
    assert.equal([screen.rows.at(-2), screen.cursor], ['^C', { row: 11, column: 0 }]);
  });
});

test('ends when nobody reads its lines any more', async () => {
  const line = `${command.join(' ')} | head -n 1`;
  const child = await launch('sh', ['-c', line], { env: cleanEnv({ KUBECONFIG: kube.kubeconfig() }) });
  try {
    await child.until('the first line', () => child.logs().includes('"added"'));
    await pod('written-to-nobody');
    assert.is((await child.exited).code, 0);
  } finally {
    await child.stop();
  }
});

test('says since when the API server does not answer, and goes on when it does', async () => {
  await watching(50, async ({ pty, see }) => {
    const before = await see(/Passed\./);
    await kube.pause();
    const away = await see(/No newer state is known since 2/);
    assert.ok(away.startsWith(before), away);
    await kube.resume();
    await see(/Passed\.$/);
    pty.type('\u0003');
    assert.is(await pty.exited, 130);
  });
});

test.run();
