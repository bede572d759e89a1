import { accessSync, constants, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { vaultRules } from '../../keyserver/settings.ts';
import type { ObjectsConfig } from '../../objects/config.ts';
import { storeOf } from '../../objects/upstream/store-settings.ts';
import { applyRules, type Rule } from '../../runtime/settings/resolve.ts';
import { isLoopback } from '../../runtime/settings/setting.ts';
import { formatByteSize } from '../../runtime/units.ts';
import type { AccessLogConfig } from './server/access-log.ts';
import { type CertificateFiles, tlsFaults } from './server/tls-files.ts';
import type { ResolvedProxySettings } from './settings.ts';

/** Configuration of the proxy after parsing; times in milliseconds. */
export interface ProxyConfig extends ObjectsConfig {
  readonly listen: { readonly host: string; readonly port: number };
  /** Undefined: callers are served over plain HTTP. */
  readonly tls: CertificateFiles | undefined;
  /** Keys that callers sign with; undefined: callers are not authenticated. */
  readonly callerKeys: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Further host names, in lower case, that unauthenticated callers may use. */
  readonly hosts: readonly string[];
  readonly allowAnonymous: boolean;
  /** Undefined: requests are not logged. */
  readonly accessLog: AccessLogConfig | undefined;
  readonly workers: number;
}

const everyInterface = '::';

/** Converts settings that `checkProxy` has accepted. */
export function readConfig(settings: ResolvedProxySettings): ProxyConfig {
  return {
    listen: { host: settings.listen.host ?? everyInterface, port: settings.listen.port },
    tls: tlsFiles(settings),
    ...storeOf(settings),
    upstreamSigning: settings.upstreamSigning,
    upstreamChecksum: settings.upstreamChecksum,
    callerKeys: callerKeys(settings),
    hosts: settings.hosts ?? [],
    allowAnonymous: settings.allowAnonymous,
    accessLog: accessLogOf(settings),
    format: settings.format === '2' ? 2 : 1,
    binding: settings.bind,
    requireBound: settings.requireBound,
    recoveryRecipients: settings.recoveryRecipients ?? [],
    unencryptedReads: settings.unencryptedReads,
    strict: settings.strict,
    spoolDir: spoolDirOf(settings),
    spoolSize: settings.spoolSize,
    verifyBuffer: settings.verifyBuffer,
    verifyBudget: settings.verifyBudget,
    envelopeHeaders: settings.envelopeHeaders,
    listSizes: settings.listSizes,
    reservedPrefix: settings.reservedPrefix,
    stateBucket: settings.stateBucket,
    inlineLimit: settings.inlineLimit,
    workers: settings.workers === 0 ? availableParallelism() : settings.workers,
  };
}

export const spoolDirOf = ({ spoolDir }: Pick<ResolvedProxySettings, 'spoolDir'>): string =>
  spoolDir ?? tmpdir();

function tlsFiles({ tlsCert, tlsKey }: ResolvedProxySettings): CertificateFiles | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  return { certFile: tlsCert, keyFile: tlsKey };
}

function accessLogOf({ accessLog, accessLogSecret }: ResolvedProxySettings): AccessLogConfig | undefined {
  return accessLog === 'off' ? undefined : { keys: accessLog, secret: accessLogSecret };
}

function callerKeys({ accessKeyId, secretAccessKey }: ResolvedProxySettings): ProxyConfig['callerKeys'] {
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey };
}

type Config = ResolvedProxySettings;

const proxyRules: readonly Rule<Config>[] = [
  callersKnown,
  bothKeys,
  hashSecretKnown,
  bothTlsFiles,
  tlsUsable,
  endpointKnown,
  budgetHoldsOne,
  ownWritesReadable,
  spoolUsable,
];

/** Rules between settings; one error a line. */
export const checkProxy = (config: Config): readonly string[] =>
  applyRules(config, [...proxyRules, ...vaultRules]);

function callersKnown({ listen, accessKeyId, allowAnonymous }: Config): string | undefined {
  if (isLoopback(listen.host) || accessKeyId !== undefined || allowAnonymous) return undefined;
  return (
    'SVC_PROXY_LISTEN: is not a loopback address; set SVC_PROXY_ACCESS_KEY_ID and ' +
    'SVC_PROXY_SECRET_ACCESS_KEY so that callers are authenticated, or set --allow-anonymous'
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

function hashSecretKnown({ accessLog, accessLogSecret }: Config): string | undefined {
  if (accessLog !== 'hashed' || accessLogSecret !== undefined) return undefined;
  return 'SVC_PROXY_ACCESS_LOG_SECRET: required, because SVC_PROXY_ACCESS_LOG is hashed';
}

function bothTlsFiles({ tlsCert, tlsKey }: Config): string | undefined {
  if ((tlsCert === undefined) === (tlsKey === undefined)) return undefined;
  const [missing, given] = tlsCert === undefined ? ['CERT', 'KEY'] : ['KEY', 'CERT'];
  return `SVC_PROXY_TLS_${missing}: required, because SVC_PROXY_TLS_${given} is set`;
}

function tlsUsable(config: Config): string | undefined {
  const files = tlsFiles(config);
  const faults = files === undefined ? [] : tlsFaults(files);
  return faults.length === 0 ? undefined : faults.join('\n');
}

function endpointKnown({ upstream, region, defaultRegion }: Config): string | undefined {
  if (upstream !== undefined || region !== undefined || defaultRegion !== undefined) return undefined;
  return 'AWS_REGION: required, because SVC_PROXY_UPSTREAM is not set';
}

function budgetHoldsOne({ verifyBuffer, verifyBudget }: Config): string | undefined {
  if (verifyBudget >= verifyBuffer) return undefined;
  return `SVC_PROXY_VERIFY_BUDGET: must be at least SVC_PROXY_VERIFY_BUFFER, which is ${formatByteSize(verifyBuffer)}`;
}

/** The combination would store objects that this proxy then refuses to read. */
function ownWritesReadable({ bind, requireBound }: Config): string | undefined {
  if (bind !== 'none' || !requireBound) return undefined;
  return (
    'SVC_PROXY_REQUIRE_BOUND: conflicts with SVC_PROXY_BIND=none, whose objects it would refuse to read; ' +
    'bind them with --bind key, or leave out --require-bound'
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
