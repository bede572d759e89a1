import { transitKeyName } from '../../../keyserver/path.ts';
import { vaultSettings } from '../../../keyserver/settings.ts';
import { transitSettings } from '../../../keyserver/transit-settings.ts';
import { objectSettings } from '../../../objects/settings.ts';
import {
  enumeration,
  integer,
  matching,
  type Resolved,
  type Settings,
} from '../../../runtime/settings/setting.ts';

const { upstream, region, defaultRegion, reservedPrefix, stateBucket } = objectSettings;
const mount = /^(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)*$/;

/** Flags and variables of `svc proxy rewrap`; those shared with the proxy have the same names and meaning. */
export const rewrapSettings = {
  upstream,
  region,
  defaultRegion,
  reservedPrefix,
  stateBucket,
  toKey: {
    variable: 'SVC_PROXY_REWRAP_TO_KEY',
    flag: 'to-key',
    summary: 'Transit key to wrap the data keys with; unset: the same key, latest version',
    ...transitKeyName(),
  },
  toMount: {
    variable: 'SVC_PROXY_REWRAP_TO_MOUNT',
    flag: 'to-mount',
    summary: 'Mount of that transit key; unset: the same mount',
    ...matching(mount, 'a mount path such as transit'),
  },
  into: {
    variable: 'SVC_PROXY_REWRAP_INTO',
    flag: 'into',
    summary:
      'Where the keys go: headers, records beside the objects, or auto: headers where nothing can get lost, else records',
    fallback: 'auto',
    ...enumeration('auto', 'headers', 'records'),
  },
  concurrency: {
    variable: 'SVC_PROXY_REWRAP_CONCURRENCY',
    flag: 'concurrency',
    summary: 'Objects at a time',
    fallback: '16',
    ...integer(1, 64),
  },
  ...transitSettings,
  ...vaultSettings,
} satisfies Settings;

export type RewrapSettings = Resolved<typeof rewrapSettings>;
