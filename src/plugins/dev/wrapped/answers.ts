/** What the demo server shows of one secret. */
export interface Shown {
  readonly key: string;
  readonly available: boolean;
  /** Masked. */
  readonly value: string;
}

/** The answers of the demo server, by path. */
export interface Answers {
  readonly '/': { readonly keys: readonly string[]; readonly count: number };
  readonly '/health': { readonly status: string; readonly delivery: string };
  readonly '/protected': { readonly secrets: readonly Shown[] };
}

const patienceMs = 5_000;

/** @throws Error for any status but 200, or where no answer comes */
export async function ask<Path extends keyof Answers>(
  demo: string,
  path: Path,
  signal: AbortSignal,
): Promise<Answers[Path]> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const response = await fetch(demo + path, { signal: limited });
  if (response.status !== 200) throw new Error(`the demo answered ${response.status} to ${path}`);
  return (await response.json()) as Answers[Path];
}

export async function askAll(demo: string, signal: AbortSignal): Promise<Answers> {
  return {
    '/': await ask(demo, '/', signal),
    '/health': await ask(demo, '/health', signal),
    '/protected': await ask(demo, '/protected', signal),
  };
}
