import { sleep } from '../../../runtime/lifecycle/sleep.ts';
import { dataPath } from '../keys/set-up-secrets.ts';
import { ask, type Shown } from './answers.ts';
import { changedValue, changing } from './example-secrets.ts';
import type { SecretsSource } from './secrets-source.ts';

const pollMs = 100;
/** The wrapper looks every second; a restart may take the demo's grace besides. */
const patienceMs = 20_000;

/** Writes a new version and waits until the demo shows it. @returns what it shows then @throws Error */
export async function rotate(
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

/** Nothing while the demo is being restarted. */
async function shownNow(demo: string, signal: AbortSignal): Promise<Shown | undefined> {
  try {
    const { secrets } = await ask(demo, '/protected', signal);
    return secrets.find(({ key }) => key === changing.field);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
