import { readFileSync } from 'node:fs';
import { exitStatus, SvcError } from '../../core/errors.ts';

/**
 * PEM certificates of AWS_CA_BUNDLE, trusted in place of Node's own as the AWS tools do.
 * @throws SvcError when the file cannot be read
 */
export function trustedAuthorities(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const path = env.AWS_CA_BUNDLE;
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SvcError('SVC_CA_BUNDLE', `AWS_CA_BUNDLE names ${path}, which cannot be read`, {
      nextStep: 'Point AWS_CA_BUNDLE to a readable PEM file, or unset it.',
      exitStatus: exitStatus.config,
      cause,
    });
  }
}
