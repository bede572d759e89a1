import { EventEmitter } from 'node:events';
import type { Server } from 'node:https';
import { mock } from 'node:test';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { makeRoom } from '../../../../src/plugins/operator/webhook/connection-limiter.ts';

const test = suite('room for connections of the webhook');

/** As much of a socket as is asked of it. */
class Caller extends EventEmitter {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Never ends its handshake. */
  readonly isSilent: boolean;
  isGone = false;

  constructor(port: number, address: string, isSilent: boolean) {
    super();
    this.remoteAddress = address;
    this.isSilent = isSilent;
    this.remotePort = port;
  }

  destroy(): void {
    this.isGone = true;
    this.emit('close');
  }
}

function serving(most: number, utilization = () => 0) {
  const server = new EventEmitter();
  const begun: Caller[] = [];
  server.on('connection', (caller: Caller) => {
    begun.push(caller);
    if (!caller.isSilent) server.emit('secureConnection', caller);
  });
  let at = 0;
  const waiting: (() => void)[] = [];
  const later = (work: () => void) => void waiting.push(work);
  const room = makeRoom(server as unknown as Server, most, { now: () => at, later, utilization });
  let port = 1_024;
  return {
    ...{ room, begun },
    pass(ms: number) {
      at += ms;
    },
    /** What had arrived has been read. */
    readAll() {
      for (const work of waiting.splice(0)) work();
    },
    connect(address = '127.0.0.1', isSilent = false): Caller {
      port += 1;
      const caller = new Caller(port, address, isSilent);
      server.emit('connection', caller);
      return caller;
    },
    /** The head of a request; the answer, of that status, closes the connection where it says so. */
    ask(socket: Caller, statusCode = 200) {
      const headers: Record<string, string> = {};
      const setHeader = (name: string, value: string) => {
        headers[name] = value;
      };
      const request = Object.assign(new EventEmitter(), { socket });
      const response = Object.assign(new EventEmitter(), { setHeader, statusCode, writableFinished: false });
      server.emit('request', request, response);
      return {
        send: () => request.emit('end'),
        answer() {
          response.writableFinished = true;
          response.emit('close');
          if (headers['connection'] === 'close') socket.destroy();
        },
        hangUp() {
          response.emit('close');
          socket.destroy();
        },
      };
    },
  };
}

test('while another waits, the answer closes the connection', () => {
  const { room, begun, connect, ask } = serving(1);
  const first = connect();
  const second = connect();
  assert.equal(begun, [first]);
  const review = ask(first);
  review.send();
  assert.is(first.isGone, false);
  review.answer();
  assert.is(first.isGone, true);
  assert.equal(begun, [first, second]);
  room.close();
});

test('one that was just answered is not broken off: its next request may be on the way', () => {
  const { room, begun, connect, ask } = serving(1);
  const first = connect();
  const former = ask(first);
  former.send();
  former.answer();
  const second = connect();
  assert.is(first.isGone, false);
  const review = ask(first);
  review.send();
  review.answer();
  assert.is(first.isGone, true, 'by its answer');
  assert.equal(begun, [first, second]);
  room.close();
});

test('one that has been idle for a while gives way, once another has waited', () =>
  overSeconds(1, ({ begun, connect, ask, pass }, second) => {
    const first = connect();
    const review = ask(first);
    review.send();
    review.answer();
    pass(2_000);
    const other = connect();
    assert.is(first.isGone, false, 'a request of the same burst may be on the way');
    second();
    assert.is(first.isGone, true);
    assert.equal(begun, [first, other]);
  }));

test('one that sends another request stays until that is answered, however long it takes', () =>
  overSeconds(1, ({ begun, connect, ask, pass }, second) => {
    const first = connect();
    const former = ask(first);
    former.send();
    former.answer();
    const review = ask(first);
    connect();
    second();
    assert.is(first.isGone, false, 'its body has not come yet');
    review.send();
    pass(60_000);
    second();
    assert.is(first.isGone, false);
    assert.equal(begun, [first]);
  }));

test('one whose request was answered before it was read gives way, too', () =>
  overSeconds(1, ({ begun, connect, ask, pass }, second) => {
    const first = connect();
    const review = ask(first);
    review.answer();
    review.send();
    pass(2_000);
    const other = connect();
    second();
    assert.is(first.isGone, true);
    assert.equal(begun, [first, other]);
  }));

test('one whose next request has arrived and was only not read yet stays', () => {
  mock.timers.enable({ apis: ['setInterval'] });
  const { room, begun, connect, ask, pass, readAll } = serving(1);
  const first = connect();
  const former = ask(first);
  former.send();
  former.answer();
  pass(60_000);
  connect();
  mock.timers.tick(1_000);
  ask(first);
  readAll();
  assert.is(first.isGone, false);
  assert.equal(begun, [first]);
  room.close();
  mock.timers.reset();
});

/** One that says nothing keeps a place while others, a second each, have their turn at the other place. */
function beside(turn: (room: ReturnType<typeof serving>, caller: Caller) => void) {
  return overSeconds(2, (all, second) => {
    const silent = all.connect();
    const callers = [all.connect(), all.connect(), all.connect()];
    const late = all.connect();
    for (const caller of callers) {
      second();
      if (!silent.isGone) turn(all, caller);
    }
    return { silent, hadTurn: all.begun.includes(late) };
  });
}

/** @param use is given what lets a second pass, with all that becomes due and arrives in it */
function overSeconds<T>(
  most: number,
  use: (all: ReturnType<typeof serving>, second: () => void) => T,
  utilization?: () => number,
): T {
  mock.timers.enable({ apis: ['setInterval'] });
  const all = serving(most, utilization);
  try {
    return use(all, () => {
      all.pass(1_000);
      mock.timers.tick(1_000);
      all.readAll();
    });
  } finally {
    all.room.close();
    mock.timers.reset();
  }
}

test('one that says nothing stays while reviews are decided', () => {
  const { silent } = beside(({ ask }, caller) => {
    const review = ask(caller);
    review.send();
    review.answer();
  });
  assert.is(silent.isGone, false);
});

for (const status of [400, 404, 405, 413, 503]) {
  test(`it gives way where others are only answered ${status}`, () => {
    const { silent, hadTurn } = beside(({ ask }, caller) => {
      const request = ask(caller, status);
      request.send();
      request.answer();
    });
    assert.equal([silent.isGone, hadTurn], [true, true]);
  });
}

test('it gives way where others hang up before they are answered', () => {
  const { silent, hadTurn } = beside(({ ask }, caller) => ask(caller).hangUp());
  assert.equal([silent.isGone, hadTurn], [true, true]);
});

test('one that had a place for a moment only keeps it, whatever others did before', () =>
  overSeconds(1, ({ connect }, second) => {
    const [silent, fresh] = [connect(), connect(), connect()];
    second();
    second();
    silent.destroy();
    second();
    assert.is(fresh.isGone, false);
    for (let count = 0; count < 3; count++) second();
    assert.is(fresh.isGone, true);
  }));

test('one that says nothing has longer where the replica itself had no time to read', () =>
  overSeconds(
    1,
    ({ connect }, second) => {
      const silent = connect();
      connect();
      for (let count = 0; count < 6; count++) second();
      assert.is(silent.isGone, false);
      for (let count = 0; count < 3; count++) second();
      assert.is(silent.isGone, true);
    },
    () => 0.9,
  ));

test('those of one address leave places to others', () => {
  const { room, begun, connect } = serving(24);
  const silent = Array.from({ length: 2_000 }, () => connect('10.0.0.1', true));
  assert.is(begun.length, 22);
  for (const address of ['10.0.0.2', '10.0.0.3']) {
    const other = connect(address);
    assert.is(begun.at(-1), other);
  }
  const left = silent.filter(({ isGone }) => !isGone).length;
  assert.ok(left < 1_030, `${left}: places to wait are for those of all addresses`);
  room.close();
});

test('an address that holds nearly all places gets another while more than the reserved are free', () => {
  const { room, begun, connect } = serving(48);
  for (let count = 0; count < 40; count++) connect('10.0.0.1');
  const one = connect('10.0.0.1');
  assert.is(begun.at(-1), one);
  room.close();
});

test('a handshake stays while only those of its own address wait: a burst of a busy API server', () =>
  overSeconds(2, ({ connect, ask }, second) => {
    const slow = connect('10.0.0.1', true);
    const others = Array.from({ length: 12 }, () => connect('10.0.0.1'));
    for (const one of others.slice(0, 6)) {
      const review = ask(one);
      review.send();
      review.answer();
      second();
    }
    assert.is(slow.isGone, false);
  }));

test('a handshake has two seconds while others wait, also where reviews are decided', () =>
  overSeconds(2, ({ connect, ask }, second) => {
    const silent = connect('10.0.0.1', true);
    const other = connect('10.0.0.2');
    connect('10.0.0.2');
    for (let count = 0; count < 2; count++) {
      const review = ask(other);
      review.send();
      second();
    }
    second();
    assert.equal([silent.isGone, other.isGone], [true, false]);
  }));

test('those that wait are hung up on in the end', () => {
  const { room, connect } = serving(1);
  connect();
  const second = connect();
  room.close();
  assert.is(second.isGone, true);
});

test.run();
