import { vaultSettings } from '../../../keyserver/settings.ts';
import { transitSettings } from '../../../keyserver/transit-settings.ts';
import { objectSettings } from '../../../objects/settings.ts';
import { byteSize, integer, type Resolved, type Settings } from '../../../runtime/settings/setting.ts';

const { upstream, region, defaultRegion, upstreamSigning, upstreamChecksum } = objectSettings;
const { reservedPrefix, stateBucket, format, bind, recoveryRecipients } = objectSettings;

/** Flags and variables of `svc proxy migrate`; those shared with the proxy have the same names and meaning. */
export const migrateSettings = {
  ...{ upstream, region, defaultRegion, upstreamSigning, upstreamChecksum },
  ...{ reservedPrefix, stateBucket, format, bind, recoveryRecipients },
  partSize: {
    variable: 'SVC_PROXY_MIGRATE_PART_SIZE',
    flag: 'part-size',
    summary:
      'Write larger objects in parts of this size and hold smaller ones in memory; objects written by svc keep their parts',
    fallback: '16MiB',
    ...byteSize(5 * 1024 ** 2, 512 * 1024 ** 2),
  },
  concurrency: {
    variable: 'SVC_PROXY_MIGRATE_CONCURRENCY',
    flag: 'concurrency',
    summary: 'Objects at a time',
    fallback: '16',
    ...integer(1, 64),
  },
  ...transitSettings,
  ...vaultSettings,
} satisfies Settings;

export type MigrateSettings = Resolved<typeof migrateSettings>;
