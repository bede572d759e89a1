import { vaultRules, vaultSettings } from '../../../keyserver/settings.ts';
import { transitSettings } from '../../../keyserver/transit-settings.ts';
import { objectSettings } from '../../../objects/settings.ts';
import { applyRules } from '../../../runtime/settings/resolve.ts';
import { integer, type Resolved, type Settings } from '../../../runtime/settings/setting.ts';

const { upstream, region, defaultRegion, reservedPrefix, stateBucket } = objectSettings;

/** Where the objects and their helper objects are; named as for the proxy, with the same meaning. */
export const placeSettings = {
  upstream,
  region,
  defaultRegion,
  reservedPrefix,
  stateBucket,
} satisfies Settings;

/** The key that wraps the data keys. */
export const keySettings = { ...transitSettings, ...vaultSettings } satisfies Settings;

export const keyErrors = (config: Resolved<typeof vaultSettings>): string[] => applyRules(config, vaultRules);

/** With a variable and a default of each command. */
export const objectsAtATime = {
  flag: 'concurrency',
  summary: 'Objects at a time',
  ...integer(1, 64),
} as const;
