import { availableParallelism, tmpdir } from 'node:os';
import { storeOf } from '../../runtime/object-store/settings.ts';
import type { ProxyConfig } from './config.ts';
import type { ResolvedProxySettings } from './settings.ts';

const everyInterface = '::';

/** The settings, checked by `checkProxy`, in the shape that the proxy uses. */
export function readConfig(settings: ResolvedProxySettings): ProxyConfig {
  return {
    listen: { host: settings.listen.host ?? everyInterface, port: settings.listen.port },
    ...storeOf(settings),
    upstreamSigning: settings.upstreamSigning,
    upstreamChecksum: settings.upstreamChecksum,
    callerKeys: callerKeys(settings),
    hosts: settings.hosts ?? [],
    allowAnonymous: settings.allowAnonymous,
    binding: settings.bind,
    requireBound: settings.requireBound,
    unencryptedReads: settings.unencryptedReads,
    strict: settings.strict,
    spoolDir: spoolDirOf(settings),
    spoolSize: settings.spoolSize,
    verifyBuffer: settings.verifyBuffer,
    verifyBudget: settings.verifyBudget,
    listSizes: settings.listSizes,
    reservedPrefix: settings.reservedPrefix,
    stateBucket: settings.stateBucket,
    inlineLimit: settings.inlineLimit,
    workers: settings.workers === 0 ? availableParallelism() : settings.workers,
  };
}

export const spoolDirOf = ({ spoolDir }: Pick<ResolvedProxySettings, 'spoolDir'>): string =>
  spoolDir ?? tmpdir();

function callerKeys({ accessKeyId, secretAccessKey }: ResolvedProxySettings): ProxyConfig['callerKeys'] {
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey };
}
