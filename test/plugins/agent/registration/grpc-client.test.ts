import { fileURLToPath } from 'node:url';
import * as grpc from '@grpc/grpc-js';
import * as loader from '@grpc/proto-loader';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startOf } from './support/fake-guard.ts';
import { type Served, withServed } from './support/served.ts';

const PROTO = fileURLToPath(new URL('../../../../proto/svc/agent/v1/node_agent.proto', import.meta.url));
const definition = loader.loadSync(PROTO, { keepCase: true, longs: String, enums: String, defaults: true });
const service = definition['svc.agent.v1.NodeAgent'] as grpc.ServiceDefinition;
const Client = grpc.makeGenericClientConstructor(service, 'NodeAgent');
type Message = Readonly<Record<string, unknown>>;
/** The answer, or `CODE details` of the error. */
type Call = (message: Message) => Promise<Message | string>;

const test = suite('registration, by grpc-js');

async function withClient(
  served: Served,
  work: (call: { Register: Call; Report: Call }) => Promise<void>,
  options: grpc.ClientOptions = {},
): Promise<void> {
  const client = new Client(served.address, grpc.credentials.createInsecure(), options);
  const call =
    (method: string): Call =>
    (message) =>
      new Promise((resolve) => {
        const unary = client[method] as unknown as (
          message: Message,
          done: (error: grpc.ServiceError | null, answer: Message) => void,
        ) => void;
        unary.call(client, message, (error, answer) =>
          resolve(error ? `${grpc.status[error.code]} ${error.details}` : answer),
        );
      });
  try {
    await work({ Register: call('Register'), Report: call('Report') });
  } finally {
    client.close();
  }
}

test('answers as the schema has it, call after call', () =>
  withServed((served) =>
    withClient(served, async ({ Register, Report }) => {
      for (let time = 0; time < 3; time++) {
        assert.equal(await Register({ wrapper_version: '9' }), {
          ...{ registered_pid: process.pid, tier: 'TIER_LSM', enforcing: true },
          ...{ agent_version: '1.2.3', reason: '' },
        });
      }
      assert.equal(await Report({}), {});
      assert.equal(served.reports(), [
        {
          ...{ pid: process.pid, start: startOf(process.pid), podUid: undefined, wrapperVersion: '' },
          ...{ wrapper: undefined, application: undefined, secretMemory: undefined },
          delivery: 'unspecified',
        },
      ]);
    }),
  ));

test('many calls at once on one connection are answered, a few at a time', () =>
  withServed((served) =>
    withClient(served, async ({ Register }) => {
      const answers = await Promise.all(Array.from({ length: 100 }, () => Register({})));
      for (const answer of answers) assert.is((answer as Message)['registered_pid'], process.pid);
    }),
  ));

test('a word that only a newer wrapper knows counts as not told', () =>
  withServed((served) =>
    withClient(served, async ({ Register, Report }) => {
      await Register({});
      await Report({ delivery: 77, wrapper: { lock_mode: 99, locked_bytes: '18446744073709551615' } });
      const [kept] = served.reports();
      assert.is(kept?.delivery, 'unspecified');
      assert.is(kept?.wrapper?.lockMode, 'unspecified');
      assert.is(kept?.wrapper?.lockedBytes, 2 ** 64);
    }),
  ));

test('a message that is too long is refused, packed or not, and the next one is answered', () =>
  withServed(async (served) => {
    const long = { wrapper_version: 'x'.repeat(70_000) };
    await withClient(served, async ({ Register }) => {
      assert.match(String(await Register(long)), /^RESOURCE_EXHAUSTED/);
      assert.is(((await Register({})) as Message)['registered_pid'], process.pid);
    });
    const packed = { 'grpc.default_compression_algorithm': 2 };
    await withClient(
      served,
      async ({ Register }) => {
        assert.match(String(await Register(long)), /^RESOURCE_EXHAUSTED/);
        assert.is(((await Register({})) as Message)['registered_pid'], process.pid);
      },
      packed,
    );
    assert.equal(served.guard.protected, [process.pid, process.pid]);
  }));

test('a connection that has had its time is replaced without a failure', () =>
  withServed(
    (served) =>
      withClient(served, async ({ Register }) => {
        const end = performance.now() + 1000;
        while (performance.now() < end) {
          assert.is(((await Register({})) as Message)['registered_pid'], process.pid);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      }),
    { lifetimeMs: 100 },
  ));

test.run();
