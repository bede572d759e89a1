import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandResult, Stoppable } from '../types.ts';
import { waitFor } from '../wait-for.ts';

const POLL_MS = 200;
const COMMAND_MS = 600_000;

/** A way into a machine that needs no network of it: the guest agent of QEMU, which runs commands as root. */
export interface GuestAgent extends Stoppable {
  /** Runs a script of the shell. @throws Error where it still runs after `timeoutMs`, 10 minutes by default */
  run(script: string, timeoutMs?: number): Promise<CommandResult>;
}

interface ExecStatus {
  readonly exited: boolean;
  readonly exitcode?: number;
  readonly 'out-data'?: string;
  readonly 'err-data'?: string;
}

/** @param path of the Unix socket of its port; what is written to it waits there until the agent has started */
export function guestAgent(path: string): GuestAgent {
  let turn: Promise<unknown> = Promise.resolve();
  let line: Line | undefined;
  // one question at a time, as the protocol has no numbers
  const ask = <T>(execute: string, args: object): Promise<T> => {
    const next = turn.then(async () => {
      line ??= await openLine(path);
      return line.ask<T>(execute, args);
    });
    turn = next.catch(() => {
      line?.close();
      line = undefined;
    });
    return next;
  };
  return {
    async run(script, timeoutMs = COMMAND_MS) {
      const deadline = performance.now() + timeoutMs;
      const command = { path: '/bin/sh', arg: ['-c', script], 'capture-output': true };
      const { pid } = await ask<{ pid: number }>('guest-exec', command);
      for (;;) {
        const status = await ask<ExecStatus>('guest-exec-status', { pid });
        if (status.exited) return resultOf(status);
        if (performance.now() > deadline) throw new Error(`still running on the node: ${script}`);
        await sleep(POLL_MS);
      }
    },
    async stop() {
      line?.close();
    },
  };
}

function resultOf({ exitcode, ...output }: ExecStatus): CommandResult {
  const text = (data = '') => Buffer.from(data, 'base64').toString();
  return { status: exitcode ?? null, stdout: text(output['out-data']), stderr: text(output['err-data']) };
}

interface Line {
  ask<T>(execute: string, args: object): Promise<T>;
  close(): void;
}

async function openLine(path: string): Promise<Line> {
  // QEMU has made the socket a moment before it listens there
  const socket = await waitFor('the port of the guest agent', () => connected(path), { timeoutMs: 10_000 });
  const answers = createInterface({ input: socket })[Symbol.asyncIterator]();
  const ask = async <T>(execute: string, args: object): Promise<T> => {
    socket.write(`${JSON.stringify({ execute, arguments: args })}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error('the guest agent has gone');
    const answer = JSON.parse(value) as { return?: T; error?: { desc: string } };
    if (answer.error) throw new Error(`guest agent: ${execute}: ${answer.error.desc}`);
    return answer.return as T;
  };
  await ask('guest-sync', { id: process.pid });
  return { ask, close: () => void socket.destroy() };
}

function connected(path: string): Promise<Socket> {
  const socket = createConnection(path);
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.removeListener('error', reject);
      // what is asked next fails
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}
