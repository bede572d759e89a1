import { wrapperSettings } from '../settings.ts';
import { nameOf } from './name-of.ts';
import { descriptorVariable, dummyVariable, ownVariables } from './own-variables.ts';

/** All strings are `KEY=VALUE` bytes without their NUL. */
export interface EnvironmentSources {
  readonly inherited: readonly Uint8Array[];
  /** The secrets to put into the environment, in protected memory; none when the descriptor alone delivers them. */
  readonly records: readonly Uint8Array[];
  /** The number that the descriptor with the secrets has in the application. */
  readonly descriptor: number | undefined;
}

export interface ChildEnvironment {
  /** Those of secrets are the very records: whoever writes the block copies them once, into protected memory. */
  readonly entries: readonly Uint8Array[];
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
export function childEnvironment({ inherited, records, descriptor }: EnvironmentSources): ChildEnvironment {
  const kept = inherited.filter((entry) => !notInherited.has(nameOf(entry)));
  const names = new Set(records.map(nameOf));
  const [others, lost] = [
    kept.filter((one) => !names.has(nameOf(one))),
    kept.filter((one) => names.has(nameOf(one))),
  ];
  const set = descriptor === undefined ? [] : [Buffer.from(`${descriptorVariable}=${descriptor}`)];
  return { entries: [dummy, ...others, ...set, ...records], replaced: [...new Set(lost.map(nameOf))] };
}
