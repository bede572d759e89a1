import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  embedded,
  message,
  type ProtobufField,
  string,
  unsigned,
} from '../../../../src/runtime/protocols/protobuf.ts';
import { type ChannelRig, startChannel } from './channel-rig.ts';
import { type RawAgent, rawAgent } from './raw-agent.ts';

interface Context {
  rig: ChannelRig;
  agent: RawAgent;
}

const test = suite<Context>('reports that are not as they should be');

test.before.each(async (context) => {
  context.rig = await startChannel({ reports: { burst: 1_000_000, perSecond: 1_000_000 } });
  context.agent = rawAgent(context.rig);
});
test.after.each(async ({ rig, agent }) => {
  agent.close();
  await rig.stop();
});

const times = (count: number, field: ProtobufField): ProtobufField =>
  Buffer.concat(Array.from({ length: count }, () => field));
const emptyMessage = (number: number): ProtobufField => embedded(number, new Uint8Array(0));
const hit = (number: number, count = 1): ProtobufField =>
  embedded(10, message(unsigned(1, number), unsigned(2, count), unsigned(5, 1), unsigned(6, 2)));
const head = (node = 'node-1', instance = 'i'): ProtobufField =>
  message(string(1, node), string(2, instance), unsigned(5, 1));
const state = (...fields: ProtobufField[]): ProtobufField =>
  embedded(7, message(unsigned(1, 1), unsigned(2, 1), ...fields));

test('are taken where they are', async ({ agent, rig }) => {
  const { code } = await agent.send(message(head(), state(), hit(1), hit(5, 3)));
  assert.is(code, 'OK');
  assert.is(await rig.metric('svc_node_hits_total{road="environ",outcome="denied"}'), 4);
  assert.is(rig.channel.agentOf('node-1')?.tier, 1);
});

const wrong: readonly (readonly [string, Uint8Array, RegExp])[] = [
  ['no bytes', new Uint8Array(0), /node/],
  ['bytes of no message', Uint8Array.of(0xff, 0xff, 0xff), /cannot be read/],
  ['a message that is cut', Uint8Array.of(0x0a, 0x20, 0x61), /cannot be read/],
  ['a name of no node', head('Node_1'), /node/],
  ['a name that is too long', head('n'.repeat(254)), /node/],
  ['no instance', message(string(1, 'node-1'), unsigned(5, 1)), /instance/],
  ['an instance that is too long', head('node-1', 'i'.repeat(129)), /instance/],
  ['no sequence', message(string(1, 'node-1'), string(2, 'i')), /sequence/],
  [
    'too many hits',
    message(head(), ...Array.from({ length: 1_001 }, (_, n) => hit(n + 1))),
    /hits: at most 1000/,
  ],
  ['hits that do not ascend', message(head(), hit(2), hit(2)), /ascending/],
  ['a hit without a number', message(head(), hit(0)), /from 1/],
  ['a hit that is none', message(head(), hit(1, 0)), /from 1/],
  [
    'a number beyond reckoning',
    message(head(), embedded(10, message(unsigned(1, 2n ** 60n), unsigned(2, 1)))),
    /at most/,
  ],
  ['too many pods', message(head(), state(times(1_001, emptyMessage(6)))), /pods: at most 1000/],
  [
    'too many pods in several states',
    message(head(), state(times(600, emptyMessage(6))), state(times(600, emptyMessage(6)))),
    /state: at most 1/,
  ],
  [
    'too many processes',
    message(head(), state(times(3, embedded(6, times(2_000, emptyMessage(3)))))),
    /processes: at most 5000/,
  ],
  [
    'too many measured',
    message(head(), state(embedded(6, times(1_001, embedded(3, emptyMessage(4)))))),
    /measured: at most 1000/,
  ],
  ['a megabyte of nothing', times(500_000, emptyMessage(10)), /hits: at most 1000/],
  ['more than a megabyte', message(head(), string(4, 'x'.repeat(1_048_577))), /1048576 bytes/],
];

for (const [what, bytes, why] of wrong) {
  test(`are refused with ${what}, and nothing of them is taken`, async ({ agent, rig }) => {
    const { code, details } = await agent.send(bytes);
    assert.is(code, 'INVALID_ARGUMENT', details);
    assert.match(details, why);
    assert.equal([...rig.channel.agents()], []);
    assert.is(await rig.metric('svc_node_hits_total{road="environ",outcome="denied"}'), undefined);
    assert.is(await rig.metric('svc_node_reports_total{result="invalid_argument"}'), 1);
  });
}

/** More at once than any agent sends would count as a flood. */
const perConnection = 25;

test('never make the operator fail, whatever their bytes are', async ({ rig }) => {
  let [sent, current] = [0, rawAgent(rig)];
  const good = message(head(), state(embedded(6, string(1, 'uid'))), hit(1));
  const broken = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .tuple(fc.nat(good.length - 1), fc.nat(255))
      .map(([at, byte]) => good.map((old, n) => (n === at ? byte : old))),
    fc.nat(good.length).map((end) => good.slice(0, end)),
  );
  await fc.assert(
    fc.asyncProperty(broken, async (bytes) => {
      sent += 1;
      if (sent % perConnection === 0) {
        current.close();
        current = rawAgent(rig);
      }
      const { code, details } = await current.send(bytes);
      const answers = ['OK', 'INVALID_ARGUMENT', 'PERMISSION_DENIED'];
      assert.ok(answers.includes(code), `${code} ${details}`);
    }),
    { numRuns: 400 },
  );
  current.close();
  assert.not.ok(rig.lines.some(({ level }) => level === 'error'));
});

test.run();
