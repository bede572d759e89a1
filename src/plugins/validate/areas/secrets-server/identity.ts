import type { ValidateConfig } from '../../settings.ts';

type Whose = Pick<ValidateConfig, 'identity' | 'secretPaths'>;

/** Whether the login is to have the policy of a proxy. */
export const forProxy = (config: Whose): boolean => identityOf(config) !== 'wrapper';

/** Whether the login is to have the policy of a wrapper. */
export const forWrapper = (config: Whose): boolean => identityOf(config) !== 'proxy';

function identityOf({ identity, secretPaths }: Whose): 'proxy' | 'wrapper' | 'both' {
  return identity ?? (secretPaths === undefined ? 'proxy' : 'both');
}
