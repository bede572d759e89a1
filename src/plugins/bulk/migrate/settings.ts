import { objectSettings } from '../../../objects/settings.ts';
import { byteSize, type Resolved, type Settings } from '../../../runtime/settings/setting.ts';
import { keySettings, objectsAtATime } from '../engine/settings.ts';

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
    fallback: '16',
    ...objectsAtATime,
  },
  ...keySettings,
} satisfies Settings;

export type MigrateSettings = Resolved<typeof migrateSettings>;
