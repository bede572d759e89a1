import { svcVersion } from '../../runtime/component/version.ts';

/** Written into the bundle, beside which there need be no package.json. */
declare const SVC_BUNDLED_VERSION: string | undefined;

export function wrapperVersion(): string {
  return typeof SVC_BUNDLED_VERSION === 'string' ? SVC_BUNDLED_VERSION : svcVersion();
}
