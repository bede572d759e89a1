import { availableParallelism, tmpdir } from 'node:os';
import type { ProxyConfig } from './config.ts';
import type { ResolvedProxySettings } from './settings.ts';

const everyInterface = '::';
/** What S3-compatible stores expect where nobody names a region. */
const unnamedRegion = 'us-east-1';

/** The settings, checked by `checkProxy`, in the shape that the proxy uses. */
export function readConfig(settings: ResolvedProxySettings): ProxyConfig {
  return {
    listen: { host: settings.listen.host ?? everyInterface, port: settings.listen.port },
    ...storeOf(settings),
    upstreamSigning: settings.upstreamSigning,
    upstreamChecksum: settings.upstreamChecksum,
    callerKeys: callerKeys(settings),
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

/** Where the store is; also for `svc proxy gc`. */
export function storeOf(
  settings: Pick<ResolvedProxySettings, 'upstream' | 'region' | 'defaultRegion'>,
): Pick<ProxyConfig, 'upstream' | 'region'> {
  const region = settings.region ?? settings.defaultRegion ?? unnamedRegion;
  return { upstream: settings.upstream ?? regionalEndpoint(region), region };
}

export const spoolDirOf = ({ spoolDir }: Pick<ResolvedProxySettings, 'spoolDir'>): string =>
  spoolDir ?? tmpdir();

function regionalEndpoint(region: string): URL {
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return new URL(`https://s3.${region}.${suffix}`);
}

function callerKeys({ accessKeyId, secretAccessKey }: ResolvedProxySettings): ProxyConfig['callerKeys'] {
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey };
}
