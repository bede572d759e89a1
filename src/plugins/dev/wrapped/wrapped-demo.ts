import { readFileSync } from 'node:fs';
import { exitStatus, messageOf, SvcError } from '../../../runtime/errors.ts';
import { sleep } from '../../../runtime/lifecycle/wait.ts';
import { changedValue, changing, dataPath, fieldsOf, type SecretsSource, valuesOf } from '../keys/set-up.ts';
import { freePort } from '../listen.ts';
import { type Protection, withBestProtection, wrapperEnvironment } from './protection.ts';
import { startWrapper, type WrapperOptions, type WrapperProcess } from './wrapper-process.ts';

/** A demo server under the wrapper, and what it showed. */
export interface WrappedDemo {
  readonly trip: WrappedTrip;
  readonly wrapper: WrapperProcess;
}

export interface WrappedTrip {
  /** URLs have no trailing slash. */
  readonly demo: string;
  readonly health: string;
  readonly protection: Protection;
  readonly answers: Answers;
  readonly environment: EnvironmentLook;
  /** The changed secret before and after. */
  readonly rotated: { readonly before: Shown; readonly after: Shown };
}

export type WrappedOptions = Pick<WrapperOptions, 'signal' | 'onLine'>;

/**
 * Starts the demo server under the wrapper, with the secrets; queries it, inspects its environment, changes a secret
 * and observes the change.
 * @throws SvcError DEV_WRAPPER if a step fails; nothing is left running then
 */
export async function startWrappedDemo(source: SecretsSource, options: WrappedOptions): Promise<WrappedDemo> {
  let wrapper: WrapperProcess | undefined;
  try {
    const port = await freePort();
    const { signal } = options;
    const [started, protection] = await withBestProtection(async (attempt) => {
      signal.throwIfAborted();
      const env = wrapperEnvironment(source, attempt, port);
      return [await startWrapper({ ...options, env, application: 'sdk/demo.js' }), attempt] as const;
    });
    wrapper = started;
    return { wrapper, trip: await trip(source, wrapper, { protection, port, signal }) };
  } catch (error) {
    await wrapper?.end();
    throw error instanceof SvcError ? error : failed(messageOf(error), error);
  }
}

async function trip(
  source: SecretsSource,
  wrapper: WrapperProcess,
  { protection, port, signal }: { protection: Protection; port: number; signal: AbortSignal },
): Promise<WrappedTrip> {
  const { secrets } = source;
  const demo = `http://127.0.0.1:${port}`;
  const answers = await askAll(demo, signal);
  const environment = lookIntoEnvironment(wrapper.applicationPid, valuesOf(secrets));
  if (protection.delivery === 'fd' && environment.found > 0)
    throw new Error(`${environment.found} of the values stand in ${environment.path}`);
  const missing = fieldsOf(secrets).filter((name) => !answers['/'].keys.includes(name));
  if (missing.length > 0) throw new Error(`the demo has no ${missing.join(', ')}`);
  const before = answers['/protected'].secrets.find(({ key }) => key === changing.field) as Shown;
  const rotated = { before, after: await rotate(demo, source, before.value, signal) };
  return { demo, health: `http://${wrapper.healthAddress}`, protection, answers, environment, rotated };
}

const failed = (reason: string, cause: unknown): SvcError =>
  new SvcError('DEV_WRAPPER', `The demo under the wrapper failed: ${reason}`, {
    nextStep: 'Start the wrapper by itself to see its log: svc-wrapper --help.',
    exitStatus: exitStatus.failure,
    cause,
  });

/** The result of searching the environment of a process for secrets. */
interface EnvironmentLook {
  readonly path: string;
  readonly bytes: number;
  /** How many of the values the environment contains. */
  readonly found: number;
  readonly of: number;
}

/** @throws Error if the process is gone, or belongs to another user */
function lookIntoEnvironment(pid: number, values: readonly string[]): EnvironmentLook {
  const path = `/proc/${pid}/environ`;
  const environment = readFileSync(path);
  const found = values.filter((value) => environment.includes(value)).length;
  return { path, bytes: environment.length, found, of: values.length };
}

const pollMs = 100;
/** The wrapper checks every second; a restart may additionally take the demo's grace. */
const patienceMs = 20_000;

/** Writes a new version and waits until the demo shows it. @returns what the demo shows @throws Error */
async function rotate(
  demo: string,
  source: SecretsSource,
  before: string,
  signal: AbortSignal,
): Promise<Shown> {
  await writeVersion(source, signal);
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline) {
    const now = await shownNow(demo, signal);
    if (now !== undefined && now.value !== before) return now;
    await sleep(pollMs, signal);
  }
  throw new Error('the demo does not show the new version');
}

async function writeVersion({ keyServer, tokens }: SecretsSource, signal: AbortSignal): Promise<void> {
  const response = await fetch(`${keyServer}/v1/${dataPath(changing.name)}`, {
    method: 'POST',
    headers: { 'x-vault-token': tokens.writer },
    body: JSON.stringify({ data: { [changing.field]: changedValue() } }),
    signal,
  });
  await response.body?.cancel();
  if (response.status !== 200) throw new Error(`the key server answered ${response.status} to a new version`);
}

/** Undefined while the demo restarts. */
async function shownNow(demo: string, signal: AbortSignal): Promise<Shown | undefined> {
  try {
    const { secrets } = await ask(demo, '/protected', signal);
    return secrets.find(({ key }) => key === changing.field);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** What the demo server shows of one secret. */
interface Shown {
  readonly key: string;
  readonly available: boolean;
  /** Masked. */
  readonly value: string;
}

/** The answers of the demo server, by path. */
interface Answers {
  readonly '/': { readonly keys: readonly string[]; readonly count: number };
  readonly '/health': { readonly status: string; readonly delivery: string };
  readonly '/protected': { readonly secrets: readonly Shown[] };
}

const answerPatienceMs = 5_000;

/** @throws Error for any status but 200, or without an answer */
async function ask<Path extends keyof Answers>(
  demo: string,
  path: Path,
  signal: AbortSignal,
): Promise<Answers[Path]> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(answerPatienceMs)]);
  const response = await fetch(demo + path, { signal: limited });
  if (response.status !== 200) throw new Error(`the demo answered ${response.status} to ${path}`);
  return (await response.json()) as Answers[Path];
}

async function askAll(demo: string, signal: AbortSignal): Promise<Answers> {
  return {
    '/': await ask(demo, '/', signal),
    '/health': await ask(demo, '/health', signal),
    '/protected': await ask(demo, '/protected', signal),
  };
}
