import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bootAgainWhenStuck } from '../../../support/vm/boot-again.ts';
import { GUEST_NODE, guestProgram } from '../../../support/vm/guest-program.ts';
import { PACKAGE } from '../../../support/vm/package-files.ts';
import { tokenAttempts } from './attack-paths.ts';

const longestMs = 300_000;
export const timeout = 2 * longestMs + 20_000;

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const guest = (name: string) => `${PACKAGE}/test/${name}.mjs`;
const denied = 'Permission denied';

type Told = Readonly<Record<string, Record<string, unknown>>>;

const test = suite('tokens of wrappers on tier 1, in a virtual machine');
const covered = suite('tokens of covered pods on tier 1, in the same one');
let told: Told = {};

test.before(async () => {
  const run = (driver: string) => `${GUEST_NODE} ${guest(driver)} ${guest('actor')} ${guest('agent')} 1`;
  const { status, records, stderr } = await bootAgainWhenStuck({
    timeoutMs: longestMs,
    processors: 1,
    files: {
      [guest('main')]: await guestProgram(at('./driver/main.ts')),
      [guest('covered')]: await guestProgram(at('./driver/covered.ts')),
      [guest('actor')]: await guestProgram(at('./driver/actor.ts')),
      [guest('agent')]: await guestProgram(at('../faults/driver/agent-program.ts')),
    },
    script: `${run('main')} && exec ${run('covered')}`,
  });
  if (status !== 0) throw new Error(`The driver ended with ${status}\n${stderr}`);
  told = Object.fromEntries(records.map(({ name, record }) => [name, record])) as Told;
});

/** Whom the token is kept from; the kubelet and the wrapper read it. */
const kept = (token: string) => ({
  ...{ wrapper: token, kubelet: token },
  ...Object.fromEntries(Object.keys(tokenAttempts).map((name) => [name, denied])),
  registeredIntruder: 'EACCES',
});

test('before the wrapper has registered, everybody reads it', () =>
  assert.equal(told['before'], { exec: 'first', node: 'first' }));

test('where the kubelet is not known, nothing is kept from anybody, and the log says why', () => {
  const { exec, lines } = told['noKubelet'] ?? {};
  assert.is(exec, 'first');
  assert.match(String(lines), /port 10250/);
});

test('once it has, the wrapper and the kubelet read it, and nobody else on any way', () => {
  const { lines, intruded, ...readers } = told['guarded'] ?? {};
  assert.equal(readers, kept('first'));
  assert.is(intruded, 'registered', 'who registers later is protected, and opens nothing');
  assert.match(String((lines as string[]).at(-1)), /not the first one of its container/);
});

test('folders, other file systems and other pods are left alone', () => {
  const { listed, tmp, otherPod, overlay } = told['left'] ?? {};
  assert.match(String(listed), /token/);
  assert.equal({ tmp, otherPod }, { tmp: 'x', otherPod: 'of-other' });
  assert.ok([denied, 'No such device'].includes(String(overlay)), String(overlay));
});

test('a wrapper reads the token of its own pod alone', () =>
  assert.equal(told['neighbour'], { own: 'of-other', theirs: 'EACCES', byFirst: 'EACCES' }));

test('the token that the kubelet puts in its place is kept as well', () =>
  assert.equal(told['rotated'], kept('second')));

test('a file system that the node has elsewhere, too, is never kept from it', () => {
  const { run, lines } = told['nodeFiles'] ?? {};
  assert.is(run, 'of-node');
  assert.match(String((lines as string[]).at(-1)), /is mounted at \/run, too/);
});

test('each attempt is reported, with the wrapper as its target and both pods', () => {
  const hits = told['hits'] as unknown as Record<string, string>[];
  const ours = hits.filter(({ road }) => road === 'token');
  assert.is(ours.length, 18 + (told['left']?.['overlay'] === denied ? 1 : 0), JSON.stringify(hits));
  const [first] = ours;
  assert.is(first?.['target_pod'], 'aaaaaaaa-0000-4000-8000-aaaaaaaaaaaa');
  assert.is(first?.['source_pod'], first?.['target_pod']);
  assert.is(first?.['source_comm'], 'cat');
  assert.is(first?.['syscall'], 'openat');
});

test('without an agent it stays so, and a kubelet that was started meanwhile waits for the agent', () =>
  assert.equal(told['withoutAgent'], { ...kept('second'), kubelet: 'EACCES' }));

test('an agent that is started again knows the kubelet that was started meanwhile', () =>
  assert.equal(told['restarted'], kept('second')));

test('when the last wrapper has ended, the volume is nobody’s', () =>
  assert.equal(told['ended'], { node: 'second' }));

test.run();

covered(
  'the first process of a container that mounts it reads it without having registered, and so do the kubelet and who is given the open file',
  () =>
    assert.equal(told['covered.guarded'], {
      ...{ wrapper: 'first', kubelet: 'first', handed: 'first' },
      ...{ child: denied, exec: denied, nsenter: denied, procRoot: denied, node: denied },
    }),
);

covered('what it executes in its place is let in as well, and reports name that', () =>
  assert.equal(told['covered.executed'], { wrapper: 'first', exec: denied, comm: 'become' }),
);

covered('that of a container which starts later is let in, and one that does not mount it is not', () =>
  assert.equal(told['covered.later'], { proxy: 'first', exec: denied, wrapper: 'first', without: 'EACCES' }),
);

covered(
  'a container that is started again is let in, and what outlives the first process of another is not',
  () => assert.equal(told['covered.restarted'], { again: 'first', brother: 'EACCES', exec: denied }),
);

covered(
  'an ephemeral container that mounts it is not let in, and one that the kubelet names as a lasting one is',
  () => assert.equal(told['covered.ephemeral'], { known: 'first', ephemeral: 'EACCES' }),
);

covered('the log names each process once', () =>
  assert.equal(told['covered.log'], { 'token.guarded': 4, 'token.unguarded': 0 }),
);

covered('an agent that is started again goes on with what it finds', () =>
  assert.equal(told['covered.agentRestarted'], { last: 'EACCES', again: 'second', exec: denied }),
);

covered('when the last of them has ended, the volume is nobody’s', () =>
  assert.equal(told['covered.ended'], { node: 'second' }),
);

covered.run();
