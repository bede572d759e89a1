import type { SecretEntry } from '../../../core/secret-records/entry.ts';
import { wrapperSettings } from '../settings.ts';
import { descriptorVariable, dummyVariable, ownVariables } from './own-variables.ts';

/**
 * One `KEY=VALUE` string without its NUL, in pieces that stand one after the other. The value of a secret
 * is a piece of its own, in place: whoever writes the block copies it once, into protected memory.
 */
export type EnvironmentEntry = readonly Uint8Array[];

export interface EnvironmentSources {
  /** `KEY=VALUE` strings, without their NUL. */
  readonly inherited: readonly Uint8Array[];
  /** Those to put into the environment; none when the descriptor alone delivers them. */
  readonly secrets: readonly SecretEntry[];
  /** The number that the descriptor with the secrets has in the application. */
  readonly descriptor: number | undefined;
}

export interface ChildEnvironment {
  readonly entries: readonly EnvironmentEntry[];
  /** Names of inherited variables that a secret takes the place of. */
  readonly replaced: readonly string[];
}

/** The wrapper's configuration, its token included, is not the application's. */
const notInherited = new Set([
  ...Object.values(wrapperSettings).map(({ variable }) => variable),
  ...ownVariables,
]);

/**
 * The kernel shows what follows the arguments, up to the next NUL, as part of them once a program has
 * overwritten their end (`setproctitle`): this string, which holds nothing. It is longer than needed for
 * that, so that a title which runs over by some bytes does not reach the next string either.
 */
const dummy = Buffer.from(`${dummyVariable}=`.padEnd(128, '-'));

/** The environment of the application: the dummy, what is inherited, the descriptor, the secrets. */
export function childEnvironment({ inherited, secrets, descriptor }: EnvironmentSources): ChildEnvironment {
  const kept = inherited.filter((entry) => !notInherited.has(nameOf(entry)));
  const names = new Set(secrets.map(({ key }) => key));
  const replaced = kept.map(nameOf).filter((name) => names.has(name));
  const others = kept.filter((entry) => !names.has(nameOf(entry)));
  const set = descriptor === undefined ? [] : [Buffer.from(`${descriptorVariable}=${descriptor}`)];
  return {
    entries: [
      ...[dummy, ...others, ...set].map((entry) => [entry]),
      ...secrets.map(({ key, value }) => [Buffer.from(`${key}=`), value]),
    ],
    replaced: [...new Set(replaced)],
  };
}

/** What stands before the first `=`; an entry without one has no name. */
function nameOf(entry: Uint8Array): string {
  const end = entry.indexOf(0x3d);
  return Buffer.from(entry.subarray(0, Math.max(end, 0))).toString();
}
