import { availableParallelism, tmpdir } from 'node:os';
import type { BindingMode } from '../../core/envelope/metadata.ts';
import { storeOf } from '../../runtime/object-store/settings.ts';
import type { ResolvedProxySettings } from './settings.ts';

/** Configuration of the proxy after parsing; sizes in bytes, times in milliseconds. */
export interface ProxyConfig {
  readonly listen: { readonly host: string; readonly port: number };
  /** Base URL of the store; path-style requests go below it. */
  readonly upstream: URL;
  readonly region: string;
  /** `auto`: unsigned payload over https, chunk signatures over http. */
  readonly upstreamSigning: 'auto' | 'unsigned' | 'signed';
  /** Trailing checksum over the ciphertext, or `none` for stores that refuse trailers. */
  readonly upstreamChecksum: 'crc32' | 'none';
  /** Keys that callers sign with; undefined: callers are not authenticated. */
  readonly callerKeys: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Further names, in lower case, that callers may use where they are not authenticated. */
  readonly hosts: readonly string[];
  readonly allowAnonymous: boolean;
  readonly binding: BindingMode;
  readonly requireBound: boolean;
  readonly unencryptedReads: 'allow' | 'deny';
  readonly strict: boolean;
  readonly spoolDir: string;
  /** Bound on ciphertext kept on disk. */
  readonly spoolSize: number;
  readonly verifyBuffer: number;
  readonly verifyBudget: number;
  readonly listSizes: 'plaintext' | 'stored';
  /** Ends with `/`, such as `.svc/`. */
  readonly reservedPrefix: string;
  /** Bucket for the helper objects; undefined: beside the objects. */
  readonly stateBucket: string | undefined;
  /** Objects up to this many plaintext bytes get their part list inline; 0: never. */
  readonly inlineLimit: number;
  readonly workers: number;
}

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
