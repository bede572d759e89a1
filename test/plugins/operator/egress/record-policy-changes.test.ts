import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventRecorder } from '../../../../src/cluster/kube/event-recorder.ts';
import { recordPolicyChanges } from '../../../../src/plugins/operator/egress/start-egress-controller.ts';
import type { NamespaceState } from '../../../../src/plugins/operator/egress/term.ts';
import { quietLog } from '../../../support/quiet-log.ts';

const test = suite('what the people of a namespace are told of its egress');
const fine: NamespaceState = { applied: true, foreign: [], widening: [], warnings: [], unresolved: [] };
const lost = (...unresolved: string[]): NamespaceState => ({ ...fine, unresolved });

function told(before: NamespaceState | undefined, now: NamespaceState) {
  const recorded: Parameters<EventRecorder['record']>[0][] = [];
  const events = { record: (event) => void recorded.push(event) } as EventRecorder;
  recordPolicyChanges('shop', before, now, { log: quietLog, events });
  return recorded;
}

test('a server without any address is a warning of the namespace, that says what to do', () => {
  const [event, ...more] = told(undefined, lost('Object store s3.example'));
  assert.equal(more, []);
  assert.equal([event?.type, event?.reason], ['Warning', 'NoAddress']);
  assert.equal(event?.regarding, { apiVersion: 'v1', kind: 'Namespace', namespace: 'shop', name: 'shop' });
  assert.match(event?.note ?? '', /^Object store s3\.example has no address.*correct its name, or check DNS/);
});

test('each is told once, and again once it had one meanwhile', () => {
  const [one, both] = [lost('Object store a'), lost('Object store a', 'Secrets server b')];
  assert.equal(told(one, one), []);
  assert.equal(told(one, fine), []);
  assert.equal(
    told(one, both).map(({ note }) => note.slice(0, 16)),
    ['Secrets server b'],
  );
  assert.is(told(fine, one).length, 1);
});

test.run();
