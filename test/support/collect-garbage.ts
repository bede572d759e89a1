import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: ((options?: { type: 'minor' }) => void) | undefined;

/** Has V8 collect all that nothing refers to, for a test that measures what is left. */
export function collectGarbage(): void {
  collector()();
}

/** Has V8 collect what is young, and release what earlier collections found dead. */
export function collectYoung(): void {
  collector()({ type: 'minor' });
}

function collector(): NonNullable<typeof collect> {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as NonNullable<typeof collect>;
  }
  return collect;
}
