import { transitKeyName } from '../../../keyserver/path.ts';
import { mountPath } from '../../../keyserver/transit-settings.ts';
import { enumeration, type Resolved, type Settings } from '../../../runtime/settings/setting.ts';
import { keySettings, objectsAtATime, placeSettings } from '../engine/settings.ts';

/** Flags and variables of `svc proxy rewrap`; those shared with the proxy have the same names and meaning. */
export const rewrapSettings = {
  ...placeSettings,
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
    ...mountPath(),
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
    fallback: '16',
    ...objectsAtATime,
  },
  ...keySettings,
} satisfies Settings;

export type RewrapSettings = Resolved<typeof rewrapSettings>;
