import { EventEmitter, once } from 'node:events';
import { createServer, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { Stream } from 'node:stream';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ConnectionBounds, Connections } from '../../../src/runtime/net/connections.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';
import { waitFor } from '../../support/wait-for.ts';

const test = suite('connections of a server');

/** As much of a socket as is looked at, with how it was ended. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  readonly remotePort: number;
  bytesRead = 0;
  bytesWritten = 0;
  ended = '';

  constructor(remotePort = 0, remoteAddress = '127.0.0.1') {
    super();
    this.remotePort = remotePort;
    this.remoteAddress = remoteAddress;
  }

  destroySoon(): void {
    this.ended ||= 'soon';
  }
  destroy(): void {
    this.ended ||= 'destroyed';
  }
  resetAndDestroy(): void {
    this.ended ||= 'reset';
  }
}

function bounded(connections: number, staleMs = 3_600_000) {
  const watched = new Connections({ connections, requests: 2, staleMs });
  const server = new EventEmitter();
  watched.guard(server as Server);
  const add = () => {
    const socket = new FakeSocket();
    server.emit('connection', socket);
    return socket;
  };
  /** @returns ends the request */
  const begin = (socket: FakeSocket) => {
    const response = new Stream();
    watched.begin(socket as unknown as Socket, response);
    return () => void response.emit('close');
  };
  return { watched, add, begin };
}

const endings = (sockets: readonly FakeSocket[]) => sockets.map(({ ended }) => ended);

test('one beyond the bound ends an unfinished head before an idle connection, and a request never', () => {
  const { add, begin } = bounded(3);
  const all = [add(), add(), add()] as const;
  const [idle, busy, unfinished] = all;
  begin(busy);
  unfinished.bytesRead = 100;
  const fourth = add();
  assert.equal(endings([...all, fourth]), ['', '', 'reset', '']);
  add();
  assert.equal(endings([idle, busy]), ['reset', '']);
});

test('the oldest of the idle ones goes; what it has read for an answered request does not count', () => {
  const { add, begin } = bounded(2);
  const [first, second] = [add(), add()];
  first.bytesRead = 500;
  begin(first)();
  add();
  assert.equal(endings([first, second]), ['', 'reset']);
});

test('a connection with a request too many in progress is ended, and what comes of it is not served', () => {
  const { watched, add, begin } = bounded(2);
  const [many, one] = [add(), add()];
  begin(many)();
  begin(many);
  begin(many);
  begin(one);
  const third = () => watched.begin(many as unknown as Socket, new Stream());
  assert.equal([third(), third()], [false, false]);
  assert.equal(endings([many, one]), ['reset', '']);
});

/** How many requests a server makes of those that one connection sends at once, until it is closed. */
async function requestsMade(sent: string): Promise<number> {
  const connections = new Connections({ requests: 8 });
  let made = 0;
  const server = createServer((request, response) => {
    made++;
    connections.begin(request.socket, response);
  });
  connections.guard(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  client.write(sent);
  await new Promise((resolve) => client.once('close', resolve));
  server.close();
  return made;
}

test('of many requests in one read, those beyond the bound are not even made', async () => {
  assert.is(await requestsMade('GET / HTTP/1.1\r\nHost:\r\n\r\n'.repeat(20_000)), 9);
});

for (const [name, request] of Object.entries({
  'without a host': 'GET / HTTP/1.1\r\n\r\n',
  'with an unknown expectation': 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n',
}))
  test(`requests ${name} are counted like others: node:http would answer any number of them`, async () => {
    assert.is(await requestsMade(request.repeat(2_000)), 9);
  });

test('an idle connection keeps nothing of a request that has been answered', async () => {
  const connections = new Connections({ requests: 8 });
  const heads: WeakRef<object>[] = [];
  const server = createServer({ keepAliveTimeout: 300_000 }, (request, response) => {
    heads.push(new WeakRef(request));
    connections.begin(request.socket, response);
    response.end();
  });
  connections.guard(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(client, 'data');
  const isGone = async () => {
    collectGarbage();
    return heads.length === 1 && heads[0]?.deref() === undefined;
  };
  await waitFor('the request to be collected', isGone);
  client.destroy();
  server.close();
});

test('one whose requests were all refused gives way first, though their bodies have not come', () => {
  const { watched, add, begin } = bounded(4);
  const [idle, unfinished, refused, half] = [add(), add(), add(), add()];
  unfinished.bytesRead = 100;
  for (const socket of [refused, half]) {
    const response = new Stream();
    watched.begin(socket as unknown as Socket, response);
    watched.refused(socket as unknown as Socket, response);
  }
  begin(half);
  add();
  assert.equal(endings([idle, unfinished, refused, half]), ['', '', 'reset', '']);
});

/** A request in progress for a time in which nothing moved, as `node:http` shows it. */
function standing(state: { complete: boolean; readableLength?: number; expect?: string }, unread = 0) {
  const { watched, add } = bounded(1, 0);
  const socket = Object.assign(add(), { writableLength: unread });
  const { expect, readableLength = 0, complete } = state;
  const response = Object.create(ServerResponse.prototype, {
    req: { value: { complete, readableLength, headers: { expect } } },
    once: { value: () => undefined },
  });
  watched.begin(socket as unknown as Socket, response);
  return watched.endStale();
}

test('a request stands still for want of its caller only: one that waits for the server is not ended', () => {
  const ended = {
    'the caller does not send on': standing({ complete: false }),
    'the caller does not read': standing({ complete: true }, 100),
    'the server has not answered': standing({ complete: true }),
    'the server does not read': standing({ complete: false, readableLength: 64 }),
    'the server has not said that it may send': standing({ complete: false, expect: '100-continue' }),
  };
  const awaitCaller = Object.entries(ended).filter(([, isEnded]) => isEnded);
  assert.equal(
    awaitCaller.map(([name]) => name),
    ['the caller does not send on', 'the caller does not read'],
  );
});

test('where every place has a request that moves, the new one is refused', () => {
  const { add, begin } = bounded(1);
  const busy = add();
  begin(busy);
  const late = add();
  assert.equal(endings([busy, late]), ['', 'reset']);
});

test('of requests that stand still the one that did so for the longest is ended', () => {
  const { watched, add, begin } = bounded(2, 0);
  const [still, moving] = [add(), add()];
  begin(still);
  begin(moving);
  moving.bytesWritten = 1;
  assert.ok(watched.endStale());
  assert.equal(endings([still, moving]), ['reset', '']);
});

test('an address gives up its connections for others, and its young ones not for its own', () => {
  const watched = new Connections({ connections: 2, shared: true, staleMs: 3_600_000 });
  const server = new EventEmitter();
  watched.guard(server as Server);
  const add = (address: string) => {
    const socket = new FakeSocket(0, address);
    server.emit('connection', socket);
    return socket;
  };
  const own = ['10.0.0.1', '10.0.0.1', '10.0.0.1'].map(add);
  assert.equal(endings(own), ['', '', 'reset']);
  const other = add('10.0.0.2');
  assert.equal(endings([...own, other]), ['reset', '', 'reset', '']);
});

test('a place is free when its connection has closed', () => {
  const { add } = bounded(1);
  const first = add();
  first.emit('close');
  add();
  assert.is(first.ended, '');
});

test('closing ends idle ones at once, the others after their request, and new ones', () => {
  const { watched, add, begin } = bounded(9);
  const [idle, busy] = [add(), add()];
  const done = begin(busy);
  watched.close();
  assert.equal(endings([idle, busy]), ['soon', '']);
  done();
  assert.equal(endings([busy, add()]), ['soon', 'destroyed']);
});

/** A server that has TLS, of which each connection is accepted first, and at some time secured. */
function overTls(bounds: Partial<ConnectionBounds>) {
  const watched = new Connections({ requests: 2, ...bounds });
  const server = Object.assign(new EventEmitter(), { setSecureContext: () => undefined });
  const begun: FakeSocket[] = [];
  server.on('connection', (socket) => begun.push(socket));
  watched.guard(server as unknown as Server);
  let port = 1_024;
  const accept = () => {
    port += 1;
    const socket = new FakeSocket(port);
    server.emit('connection', socket);
    return socket;
  };
  const secure = ({ remotePort }: FakeSocket) => {
    const socket = new FakeSocket(remotePort);
    server.emit('secureConnection', socket);
    return socket;
  };
  const begin = (socket: FakeSocket) => watched.begin(socket as unknown as Socket, new Stream());
  return { begun, accept, secure, begin };
}

test('of too many connections in their handshake the oldest is ended; those that have done theirs are not', () => {
  const { accept, secure } = overTls({ handshakes: 2 });
  const [done, first] = [accept(), accept()];
  secure(done);
  const more = [accept(), accept()];
  assert.equal(endings([done, first, ...more]), ['', 'reset', '', '']);
});

test('one whose handshake is unfinished gives way before one that is idle', () => {
  const { accept, secure } = overTls({ connections: 2 });
  const [idle, unfinished] = [accept(), accept()];
  secure(idle);
  accept();
  assert.equal(endings([idle, unfinished]), ['', 'reset']);
});

test('one that is refused is not even begun', () => {
  const { begun, accept, secure, begin } = overTls({ connections: 1 });
  const busy = accept();
  assert.ok(begin(secure(busy)));
  const late = accept();
  assert.equal([begun, late.ended], [[busy], 'reset']);
});

test.run();
