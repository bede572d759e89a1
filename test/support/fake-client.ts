import type { KubeClient } from '../../src/cluster/kube/client.ts';

/** A client whose bodies are the answers of `request`, and which watches nothing; it needs no network. */
export function fakeClient(request: KubeClient['request'], server = 'https://fake.test'): KubeClient {
  return {
    ...{ server, origin: 'test', close: () => {}, request },
    read: async (asked, use) => use(bytesOf(await request(asked))),
    stream: () => Promise.reject(new Error('Nothing is watched here.')),
  };
}

async function* bytesOf(answer: unknown): AsyncGenerator<Buffer> {
  yield Buffer.from(JSON.stringify(answer));
}
