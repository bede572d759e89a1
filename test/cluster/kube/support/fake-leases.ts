import { setTimeout as sleep } from 'node:timers/promises';
import {
  failureOf,
  type KubeClient,
  KubeError,
  type KubeRequest,
} from '../../../../src/cluster/kube/client.ts';

// biome-ignore lint/suspicious/noExplicitAny: objects are picked apart freely
type Stored = any;

/** One lease behind an API server, with the API server's ways: versions, conflicts, and answers that get lost. */
export interface FakeLeases {
  /** What is stored; set it to change it as somebody else would. */
  lease: Stored | undefined;
  readonly writes: number;
  /** Another client of it, whose way there can be cut. */
  client(): FakeLink;
}

export interface FakeLink extends KubeClient {
  /** `lost`: requests never arrive; `deaf`: they arrive, and their answers do not come back. */
  state: 'up' | 'lost' | 'deaf';
  /** Milliseconds each way. */
  delay: () => number;
}

export function createFakeLeases(): FakeLeases {
  let lease: Stored;
  let version = 0;
  let writes = 0;
  const store = (object: Stored) => {
    writes += 1;
    version += 1;
    lease = structuredClone(object);
    lease.metadata.resourceVersion = String(version);
    return structuredClone(lease);
  };
  const serve = ({ method = 'GET', body }: KubeRequest): Stored => {
    const sent = body as Stored;
    if (method === 'POST') {
      if (lease !== undefined) throw failureOf('POST lease', 409, '{}');
      return store(sent);
    }
    if (lease === undefined) throw failureOf(`${method} lease`, 404, '{}');
    if (method === 'GET') return structuredClone(lease);
    if (sent.metadata.resourceVersion !== lease.metadata.resourceVersion)
      throw failureOf('PUT lease', 409, '{}');
    return store(sent);
  };
  return {
    get lease() {
      return lease;
    },
    set lease(object) {
      if (object === undefined) lease = undefined;
      else store(object);
    },
    get writes() {
      return writes;
    },
    client: () => link(serve),
  };
}

function link(serve: (request: KubeRequest) => Stored): FakeLink {
  const made: FakeLink = {
    ...{ server: 'fake', origin: 'fake', state: 'up', delay: () => 0 },
    async request<T>(request: KubeRequest) {
      request.signal?.throwIfAborted();
      const patience = AbortSignal.timeout(request.timeoutMs ?? 30_000);
      const signal = request.signal ? AbortSignal.any([request.signal, patience]) : patience;
      await travel(made, signal, request.signal);
      if (made.state === 'lost') await never(signal, request.signal);
      const answer = attempt(() => serve(request));
      if (made.state === 'deaf') await never(signal, request.signal);
      await travel(made, signal, request.signal);
      return answer() as T;
    },
    read: () => Promise.reject(new Error('leases are not listed')),
    stream: () => Promise.reject(new Error('leases are not watched')),
    close() {},
  };
  return made;
}

function attempt<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

async function travel(
  { delay }: FakeLink,
  signal: AbortSignal,
  asked: AbortSignal | undefined,
): Promise<void> {
  await sleep(delay(), undefined, { signal }).catch(() => late(asked));
}

function never(signal: AbortSignal, asked: AbortSignal | undefined): Promise<never> {
  // the timers of signals do not keep a process
  const kept = setTimeout(() => {}, 60_000);
  return new Promise<never>((_resolve, reject) => {
    const end = () => {
      try {
        late(asked);
      } catch (error) {
        reject(error);
      }
    };
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
  }).finally(() => clearTimeout(kept));
}

function late(asked: AbortSignal | undefined): never {
  asked?.throwIfAborted();
  throw new KubeError('KUBE_UNAVAILABLE', 'no answer in time');
}
