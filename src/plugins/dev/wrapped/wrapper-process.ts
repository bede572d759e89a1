import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../../../keyserver/answers.ts';
import { packageFolder } from '../../../runtime/component/package-folder.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { stage } from '../stage.ts';
import { WrapperRefusal } from './protection.ts';

export interface WrapperOptions {
  /** The wrapper's whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** File below dist/ that Node runs under the wrapper; prints a line with `listening` when it serves. */
  readonly application: string;
  /** Ends the wrapper while it starts. */
  readonly signal: AbortSignal;
  /** Called with each line of the application, and each warning and error of the wrapper's log. */
  readonly onLine: (line: string | Record<string, unknown>) => void;
}

export interface WrapperProcess {
  readonly pid: number;
  /** Of the application that was started last. */
  readonly applicationPid: number;
  /** `host:port` */
  readonly healthAddress: string;
  /** Resolves when everything has ended, with the reason in words. */
  readonly ended: Promise<string>;
  /** Makes the wrapper end the application, then itself. */
  end(): Promise<void>;
}

/** Starts dist/wrapper.cjs and waits until its application serves. @throws WrapperRefusal, SvcError DEV_WRAPPER */
export async function startWrapper({
  env,
  application,
  signal,
  onLine,
}: WrapperOptions): Promise<WrapperProcess> {
  const file = builtFile(application);
  const story = new WrapperStory();
  const child = launch([builtFile('wrapper.cjs'), '--', process.execPath, file], env);
  const serves = Promise.withResolvers<void>();
  eachLine(child.stdout, (line) => {
    if (/\blistening\b/.test(line)) serves.resolve();
    onLine(line);
  });
  eachLine(child.stderr, (line) => {
    const entry = story.note(line);
    if (entry?.['level'] === 'warn' || entry?.['level'] === 'error') onLine(entry);
  });
  const ended = endOf(child, story, file);
  const end = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  void ended.then((how) => serves.reject(refusal(story, how)));
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  const standing = () => `; the wrapper's last event is ${story.lastEvent ?? 'none'}`;
  try {
    await stage('The start of the program under the wrapper', serves.promise, standing);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  return {
    pid: child.pid as number,
    get applicationPid() {
      return story.applicationPid ?? 0;
    },
    healthAddress: story.healthAddress ?? '',
    ended,
    end,
  };
}

/** In its own session, so that Ctrl-C on a terminal reaches `svc dev` only, which then ends the wrapper. */
function launch(args: readonly string[], env: WrapperOptions['env']): ChildProcess & PipedOutputs {
  const child = spawn(process.execPath, ['--disable-sigusr1', ...args], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => child.kill('SIGTERM');
  process.once('exit', stop);
  child.once('exit', () => process.off('exit', stop));
  return child;
}

interface PipedOutputs {
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** Resolves when the wrapper and its application are gone and their output has been read. */
function endOf(child: ChildProcess, story: WrapperStory, application: string): Promise<string> {
  child.once('exit', () => endOrphan(story.applicationPid, application));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (status, signal) => resolve(signal ? `by ${signal}` : `with status ${status}`));
  });
}

/** A wrapper that was killed leaves its application behind. */
function endOrphan(pid: number | undefined, application: string): void {
  try {
    if (pid === undefined || !readFileSync(`/proc/${pid}/cmdline`).includes(application)) return;
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended, as in any orderly end.
  }
}

function refusal(story: WrapperStory, how: string): WrapperRefusal {
  const { code, reason } = story.failure ?? { code: undefined, reason: `The wrapper ended ${how}` };
  return new WrapperRefusal(code, reason);
}

function eachLine(stream: Readable, use: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', use);
}

function builtFile(name: string): string {
  const path = fileURLToPath(new URL(`dist/${name}`, packageFolder()));
  if (existsSync(path)) return path;
  throw new SvcError('DEV_WRAPPER', `The wrapper's demonstration is not built: ${path} is missing`, {
    nextStep: 'Run `npm run build`, or install the package again.',
    exitStatus: exitStatus.internal,
  });
}

export interface WrapperFailure {
  /** Undefined if the application failed. */
  readonly code: string | undefined;
  readonly reason: string;
}

/** What the wrapper's log has reported so far. */
export class WrapperStory {
  /** `host:port` of its health endpoint. */
  healthAddress: string | undefined;
  /** Of the application that was started last. */
  applicationPid: number | undefined;
  /** Name of the event that was logged last. */
  lastEvent: string | undefined;
  #failure: WrapperFailure | undefined;
  #applicationWords = '';

  /** Takes a line of standard error, which wrapper and application share. @returns the event if it is a log line */
  note(line: string): Record<string, unknown> | undefined {
    const entry = parsed(line);
    if (entry === undefined) this.#applicationWords = line;
    else this.lastEvent = String(entry['event']);
    if (entry?.['event'] === 'health.listening') this.healthAddress = String(entry['address']);
    if (entry?.['event'] === 'application.started') this.applicationPid = Number(entry['pid']);
    if (entry?.['event'] === 'start.failed') this.#failure = failureIn(entry);
    return entry;
  }

  /** Why the wrapper ended, if a line told. */
  get failure(): WrapperFailure | undefined {
    if (this.#failure !== undefined) return this.#failure;
    const reason = this.#applicationWords;
    return reason === '' ? undefined : { code: undefined, reason };
  }
}

function parsed(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) && typeof entry['event'] === 'string' ? entry : undefined;
  } catch {
    return undefined;
  }
}

function failureIn({ code, error, details }: Record<string, unknown>): WrapperFailure {
  const findings = Array.isArray(details) ? details : [];
  return { code: String(code), reason: [error, ...findings].join('; ') };
}
