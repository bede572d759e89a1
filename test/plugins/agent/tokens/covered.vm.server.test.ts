import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bootAgainWhenStuck } from '../../../support/vm/boot-again.ts';
import { GUEST_NODE, guestProgram } from '../../../support/vm/guest-program.ts';
import { PACKAGE } from '../../../support/vm/package-files.ts';

const longestMs = 200_000;
export const timeout = 2 * longestMs + 20_000;

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const guest = (name: string) => `${PACKAGE}/test/${name}.mjs`;
const denied = 'Permission denied';

const test = suite('tokens of covered pods on tier 1, in a virtual machine');
let told: Readonly<Record<string, unknown>> = {};

test.before(async () => {
  const { status, records, stderr } = await bootAgainWhenStuck({
    timeoutMs: longestMs,
    processors: 1,
    files: {
      [guest('covered')]: await guestProgram(at('./driver/covered.ts')),
      [guest('actor')]: await guestProgram(at('./driver/actor.ts')),
      [guest('agent')]: await guestProgram(at('../faults/driver/agent-program.ts')),
    },
    script: `exec ${GUEST_NODE} ${guest('covered')} ${guest('actor')} ${guest('agent')} 1`,
  });
  if (status !== 0) throw new Error(`The driver ended with ${status}\n${stderr}`);
  told = Object.fromEntries(records.map(({ name, record }) => [name, record]));
});

test('the first process of a container that mounts it reads it without having registered, and so do the kubelet and who is given the open file', () =>
  assert.equal(told['guarded'], {
    ...{ wrapper: 'first', kubelet: 'first', handed: 'first' },
    ...{ child: denied, exec: denied, nsenter: denied, procRoot: denied, node: denied },
  }));

test('what it executes in its place is let in as well, and reports name that', () =>
  assert.equal(told['executed'], { wrapper: 'first', exec: denied, comm: 'become' }));

test('that of a container which starts later is let in, and one that does not mount it is not', () =>
  assert.equal(told['later'], { proxy: 'first', exec: denied, wrapper: 'first', without: 'EACCES' }));

test('a container that is started again is let in, and what outlives the first process of another is not', () =>
  assert.equal(told['restarted'], { again: 'first', brother: 'EACCES', exec: denied }));

test('an ephemeral container that mounts it is not let in, and one that the kubelet names as a lasting one is', () =>
  assert.equal(told['ephemeral'], { known: 'first', ephemeral: 'EACCES' }));

test('the log names each process once', () =>
  assert.equal(told['log'], { 'token.guarded': 4, 'token.unguarded': 0 }));

test('an agent that is started again goes on with what it finds', () =>
  assert.equal(told['agentRestarted'], { last: 'EACCES', again: 'second', exec: denied }));

test('when the last of them has ended, the volume is nobody’s', () =>
  assert.equal(told['ended'], { node: 'second' }));

test.run();
