import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeLaunch } from '../../../../../src/plugins/wrapper/init/launch-region.ts';
import { recordKind } from '../../../../../src/plugins/wrapper/init/records.ts';
import { recordSocketPair, sendRecord } from '../../../../../src/runtime/native/record-channel.ts';
import { createSecretMemory } from '../../../../../src/runtime/native/secret-memory.ts';
import { bundledProgram } from '../../../../support/bundled-program.ts';
import { DIE_WITH_PARENT } from '../../../../support/child.ts';
import { cleanEnv } from '../../../../support/clean-env.ts';
import { reapProcess } from '../../../../support/reaper.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import type { FixtureOptions } from '../fixtures/wrapper.ts';

export type FixtureEvent =
  | { readonly kind: 'reaped'; readonly pid: number; readonly exitCode: number }
  | { readonly kind: 'stopped'; readonly pid: number; readonly signal: string }
  | { readonly kind: 'continued'; readonly pid: number }
  | { readonly kind: 'killed'; readonly pid: number; readonly graceMs: number }
  | { readonly kind: 'undeliverable'; readonly pid: number; readonly signal: string }
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'restarting'; readonly pid: number; readonly exitCode: number }
  | { readonly kind: 'ended-before-start'; readonly signal: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

export interface WrapperProcess {
  readonly pid: number;
  output(): string;
  events(): FixtureEvent[];
  /** The first event of that kind, as soon as it is there. */
  event<K extends FixtureEvent['kind']>(kind: K): Promise<Extract<FixtureEvent, { kind: K }>>;
  /** Waits until the application has written that. */
  wrote(text: string): Promise<void>;
  send(signal: NodeJS.Signals): void;
  /** Its exit status, 128 + n when a signal ended the wrapper itself. */
  readonly status: Promise<number>;
}

const fixture = bundledProgram(new URL('../fixtures/wrapper.ts', import.meta.url));

/** The command line of the wrapper without configuration. */
export function wrapperCommand(options: FixtureOptions, command: readonly string[]): string[] {
  // as the wrapper's folder starts it: Node then blocks the signal
  return [process.execPath, '--disable-sigusr1', fixture, JSON.stringify(options), ...command];
}

/** Starts it in a session without a terminal. @param prefix a program that starts it, and its arguments */
export function startWrapper(
  command: readonly string[],
  options: FixtureOptions = {},
  prefix: readonly string[] = [],
): WrapperProcess {
  const [file = '', ...args] = [...DIE_WITH_PARENT, ...prefix, ...wrapperCommand(options, command)];
  const child = spawn(file, args, { env: cleanEnv(), detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  return observe(child);
}

function observe(child: ChildProcess): WrapperProcess {
  const pid = child.pid as number;
  child.once('exit', reapProcess(pid));
  let output = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const details = () => `standard output: ${output}\nstandard error: ${errors}`;
  const events = () => parseEvents(errors);
  return {
    pid,
    output: () => output,
    events,
    event: (kind) =>
      waitFor(`the event ${kind}`, () => events().find((event) => event.kind === kind) as never, { details }),
    async wrote(text) {
      await waitFor(`the output ${JSON.stringify(text)}`, () => output.includes(text), { details });
    },
    send: (signal) => child.kill(signal),
    status: new Promise((resolve) => child.once('close', (code) => resolve(code ?? 128))),
  };
}

function parseEvents(text: string): FixtureEvent[] {
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines.filter((line) => line.startsWith('{')).map((line) => asEvent(JSON.parse(line)));
}

const kinds: Readonly<Record<string, FixtureEvent['kind']>> = {
  'application.started': 'started',
  'application.stopped': 'stopped',
  'application.continued': 'continued',
  'application.killed': 'killed',
  'application.ended': 'restarting',
  'orphan.reaped': 'reaped',
  'start.failed': 'failed',
  'signal.undeliverable': 'undeliverable',
};

/** svc-init writes log lines, the fixture events. */
function asEvent(line: FixtureEvent | Record<string, unknown>): FixtureEvent {
  if ('kind' in line) return line as FixtureEvent;
  const { event, exit_code: exitCode, grace_ms: graceMs, error: message, ...rest } = line;
  return { ...rest, exitCode, graceMs, message, kind: kinds[String(event)] } as unknown as FixtureEvent;
}

/** Runs it to its end. */
export async function runWrapper(
  command: readonly string[],
  options: FixtureOptions = {},
  prefix: readonly string[] = [],
): Promise<{ status: number; output: string; events: FixtureEvent[] }> {
  const wrapper = startWrapper(command, options, prefix);
  const status = await wrapper.status;
  return { status, output: wrapper.output(), events: wrapper.events() };
}

const init = fileURLToPath(new URL(`../../../../../dist/init/${process.arch}/svc-init`, import.meta.url));

/** Runs svc-init itself, with an application that it is given at once, to its end. */
export async function runInit(argv: readonly string[]): Promise<{ status: number; events: FixtureEvent[] }> {
  const [socket, theirs] = recordSocketPair();
  const memory = createSecretMemory({ requireMemfdSecret: false, requireLock: false });
  sendRecord(socket, { kind: recordKind.settings, values: [10_000, 60_000] });
  const env = [Buffer.from(`PATH=${process.env['PATH']}`)];
  const region = writeLaunch({ file: argv[0] ?? '', argv, env }, memory);
  const values = [region.length, argv.length, env.length];
  sendRecord(socket, { kind: recordKind.start, values }, region.descriptor);
  region.handOver();
  const child = spawn(init, ['3', '', '', '/bin/false', '/bin/false'], {
    stdio: ['ignore', 'ignore', 'pipe', theirs],
  });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const status = await new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 128)));
  for (const descriptor of [socket, theirs]) closeSync(descriptor);
  return { status, events: parseEvents(errors) };
}
