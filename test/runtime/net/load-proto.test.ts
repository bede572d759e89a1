import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadProtoService } from '../../../src/runtime/net/load-proto.ts';

const test = suite('loadProtoService');

const nodeAgent = () => loadProtoService('svc/agent/v1/node_agent.proto', 'svc.agent.v1.NodeAgent');

test('finds a service of the package with its paths', async () => {
  const service = await nodeAgent();
  assert.is(service['Register']?.path, '/svc.agent.v1.NodeAgent/Register');
  assert.is(service['Report']?.path, '/svc.agent.v1.NodeAgent/Report');
});

test('gives messages in camelCase, wide numbers and enums as text, and leaves optional fields out', async () => {
  const { Register } = await nodeAgent();
  const bytes = Register?.requestSerialize({
    podUid: 'a-b',
    protection: { lockMode: 'LOCK_MODE_ALL', lockedBytes: '18446744073709551615' },
  });
  const message = Register?.requestDeserialize(bytes as Buffer) as Record<string, unknown>;
  assert.equal(structuredClone(message), {
    podUid: 'a-b',
    wrapperVersion: '',
    requireEnforcement: false,
    protection: {
      lockMode: 'LOCK_MODE_ALL',
      lockedBytes: '18446744073709551615',
      unlockedBytes: '0',
      swappedBytes: '0',
      ipcLock: false,
    },
  });
});

test('names the service that a file does not have', async () => {
  try {
    await loadProtoService('svc/agent/v1/node_agent.proto', 'svc.agent.v1.Tier');
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), 'node_agent.proto has no service svc.agent.v1.Tier');
  }
});

test.run();
