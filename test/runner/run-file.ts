import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterPatience } from '../support/patience.ts';
import type { FileResult, TestEvent } from './events.ts';

export interface FileLimits {
  /** Milliseconds from one result to the next unless the file exports a `timeout` of its own; more on a busy machine. */
  timeout: number;
  /** Milliseconds that the process may take to end by itself after its last test. */
  exitGrace: number;
  /** Further variables of its environment. */
  env?: Readonly<Record<string, string>>;
}

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
/** Sources without their types, and their code, as the first of the files that import them has left them. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/svc-test', import.meta.url));
/** Suites with servers move many large buffers and live briefly: collected seldom, by one thread, they take a tenth less time. */
const COLLECTED_SELDOM = [
  ...['--single-threaded-gc', '--min-semi-space-size=64', '--max-semi-space-size=128'],
  // else 32 MB of buffers have all of the heap marked
  ...['--external-memory-accounted-in-global-limit', '--initial-old-space-size=400'],
];
const DRAIN_MS = 2_000;
const OUTPUT_LIMIT = 64 * 1024;
const running = new Set<ChildProcess>();

interface Watch {
  result: FileResult;
  current: string;
  done: boolean;
  handles: string[];
  /** Tools that are being built for it, in which time its own does not pass. */
  building: number;
  timeout: number;
  stopTimer: () => void;
}

/** Runs one test file in a process of its own; every way in which it can go wrong ends up in `failures`. */
export async function runFile(file: string, limits: FileLimits): Promise<FileResult> {
  const started = performance.now();
  const result: FileResult = { file, passed: 0, failures: [], skips: [], milliseconds: 0, output: '' };
  const watch = watchOf(result, limits.timeout);
  const child = start(file, limits.env);
  collectOutput(child, result);
  child.on('message', (event) => onEvent(event as TestEvent, watch, child, limits));
  restart(watch, child);
  const ending = await ended(child);
  watch.stopTimer();
  judgeEnding(watch, ending);
  result.milliseconds = performance.now() - started;
  return result;
}

function watchOf(result: FileResult, timeout: number): Watch {
  const stopTimer = () => undefined;
  return { result, current: '', done: false, handles: [], building: 0, timeout, stopTimer };
}

/** Ends every test process that still runs, with the processes that it started. */
export function stopAll(): void {
  for (const child of running) killGroup(child);
}

function start(file: string, env: FileLimits['env']): ChildProcess {
  const flags = file.endsWith('.server.test.ts') ? COLLECTED_SELDOM : [];
  const child = spawn(process.execPath, [...flags, CHILD, file], {
    env: { ...process.env, ...env, NODE_COMPILE_CACHE: COMPILED },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true, // a process group of its own, so that what a test leaves behind can be ended with it
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // the whole group has ended already
  }
}

function collectOutput(child: ChildProcess, result: FileResult): void {
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      result.output = (result.output + text).slice(-OUTPUT_LIMIT);
    });
  }
}

function arm(watch: Watch, child: ChildProcess, milliseconds: number, record: () => void): void {
  watch.stopTimer();
  watch.stopTimer = afterPatience(milliseconds, () => {
    record();
    killGroup(child);
  });
}

function onEvent(event: TestEvent, watch: Watch, child: ChildProcess, limits: FileLimits): void {
  const { result } = watch;
  if (event.type === 'loaded') watch.timeout = event.timeout ?? limits.timeout;
  if (event.type === 'building') watch.building += 1;
  if (event.type === 'built') watch.building -= 1;
  if (event.type === 'start') watch.current = event.name;
  if (event.type === 'pass') result.passed += 1;
  if (event.type === 'fail') result.failures.push({ name: event.name, error: event.error });
  if (event.type === 'skip')
    result.skips.push({ name: event.name, reason: event.reason, count: event.count });
  if (event.type === 'handles') watch.handles = event.active;
  else if (event.type !== 'done') restart(watch, child);
  else conclude(watch, child, event.cpuMilliseconds, limits);
}

function conclude(
  watch: Watch,
  child: ChildProcess,
  cpuMilliseconds: number | undefined,
  { exitGrace }: FileLimits,
): void {
  watch.done = true;
  if (cpuMilliseconds !== undefined) watch.result.cpuMilliseconds = cpuMilliseconds;
  arm(watch, child, exitGrace, () => didNotExit(watch));
}

/** However many tests a file has and however slow the machine is: what counts is the time since something was done. */
function restart(watch: Watch, child: ChildProcess): void {
  if (watch.done) return;
  watch.stopTimer();
  if (watch.building === 0) arm(watch, child, watch.timeout, () => timedOut(watch, watch.timeout));
}

function timedOut(watch: Watch, timeout: number): void {
  const where = watch.current || 'import';
  watch.result.failures.push({ name: where, error: `Time-out: this took longer than ${timeout} ms.` });
  watch.done = true;
}

function didNotExit(watch: Watch): void {
  const held = watch.handles.length > 0 ? ` Held open by: ${watch.handles.join(', ')}.` : '';
  watch.result.failures.push({
    name: 'process',
    error: `The process did not exit after its last test.${held}`,
  });
}

interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
  error?: Error;
}

/** Waits for the exit, then for the last messages and output, but not for descendants that hold the pipes open. */
async function ended(child: ChildProcess): Promise<Ending> {
  const closed = new Promise((resolve) => child.once('close', resolve));
  const disconnected = new Promise((resolve) => child.once('disconnect', resolve));
  const ending = await new Promise<Ending>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  killGroup(child);
  const limit = new AbortController();
  const tooLong = sleep(DRAIN_MS, undefined, { signal: limit.signal }).catch(() => undefined);
  await Promise.race([Promise.all([closed, disconnected]), tooLong]);
  limit.abort();
  return ending;
}

function judgeEnding(watch: Watch, { code, signal, error }: Ending): void {
  const { failures } = watch.result;
  if (error) failures.push({ name: 'process', error: `Cannot start: ${error.message}` });
  else if (!watch.done) failures.push({ name: watch.current || 'import', error: earlyEnd(code, signal) });
  else if (code !== 0 && failures.length === 0) {
    failures.push({
      name: 'process',
      error: `The process ended with ${signal ?? `status ${code}`} after its tests.`,
    });
  }
}

function earlyEnd(code: number | null, signal: NodeJS.Signals | null): string {
  if (code === 13) return 'The event loop drained while this was still pending: a promise never settles.';
  return `The process ended with ${signal ?? `status ${code}`} before its tests did.`;
}
