import { accessSync, constants, statSync } from 'node:fs';
import { isLoopback } from '../../core/settings/listen-address.ts';
import { applyRules, type Rule } from '../../core/settings/resolve.ts';
import { formatByteSize } from '../../core/units.ts';
import { vaultRules } from '../../runtime/vault/settings.ts';
import { spoolDirOf } from './config.ts';
import type { ResolvedProxySettings } from './settings.ts';

type Config = ResolvedProxySettings;

const proxyRules: readonly Rule<Config>[] = [
  callersKnown,
  bothKeys,
  endpointKnown,
  budgetHoldsOne,
  ownWritesReadable,
  spoolUsable,
];

/** What the settings need from each other; one error a line. */
export const checkProxy = (config: Config): readonly string[] =>
  applyRules(config, [...proxyRules, ...vaultRules]);

function callersKnown({ listen, accessKeyId, allowAnonymous }: Config): string | undefined {
  if (isLoopback(listen.host) || accessKeyId !== undefined || allowAnonymous) return undefined;
  return (
    'SVC_PROXY_LISTEN: is not a loopback address; set SVC_PROXY_ACCESS_KEY_ID and ' +
    'SVC_PROXY_SECRET_ACCESS_KEY so that callers are authenticated, or say --allow-anonymous'
  );
}

function bothKeys({ accessKeyId, secretAccessKey }: Config): string | undefined {
  if ((accessKeyId === undefined) === (secretAccessKey === undefined)) return undefined;
  const [missing, given] =
    accessKeyId === undefined
      ? ['ACCESS_KEY_ID', 'SECRET_ACCESS_KEY']
      : ['SECRET_ACCESS_KEY', 'ACCESS_KEY_ID'];
  return `SVC_PROXY_${missing}: required, because SVC_PROXY_${given} is set`;
}

function endpointKnown({ upstream, region, defaultRegion }: Config): string | undefined {
  if (upstream !== undefined || region !== undefined || defaultRegion !== undefined) return undefined;
  return 'AWS_REGION: required, because SVC_PROXY_UPSTREAM is not set';
}

function budgetHoldsOne({ verifyBuffer, verifyBudget }: Config): string | undefined {
  if (verifyBudget >= verifyBuffer) return undefined;
  return `SVC_PROXY_VERIFY_BUDGET: must be at least SVC_PROXY_VERIFY_BUFFER, which is ${formatByteSize(verifyBuffer)}`;
}

/** Both together would store objects that this very proxy then refuses to read. */
function ownWritesReadable({ bind, requireBound }: Config): string | undefined {
  if (bind !== 'none' || !requireBound) return undefined;
  return (
    'SVC_PROXY_REQUIRE_BOUND: cannot go with SVC_PROXY_BIND=none, whose objects it would refuse to read; ' +
    'bind them with --bind key, or leave --require-bound out'
  );
}

function spoolUsable(config: Config): string | undefined {
  const dir = spoolDirOf(config);
  try {
    if (!statSync(dir).isDirectory()) return `SVC_PROXY_SPOOL_DIR: ${dir} is not a folder`;
    accessSync(dir, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `SVC_PROXY_SPOOL_DIR: ${dir} cannot be used (${(error as NodeJS.ErrnoException).code})`;
  }
}
