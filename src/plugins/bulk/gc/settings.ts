import {
  boolean,
  duration,
  list,
  matching,
  type Resolved,
  type Settings,
} from '../../../runtime/settings/setting.ts';
import { placeSettings } from '../engine/settings.ts';

const day = 24 * 60 * 60 * 1000;
const century = 100 * 365 * day;

/** Flags and variables of `svc proxy gc`; those shared with the proxy have the same names and meaning. */
export const gcSettings = {
  ...placeSettings,
  buckets: {
    variable: 'SVC_PROXY_GC_BUCKETS',
    flag: 'buckets',
    summary: 'Buckets to check, separated by commas; unset: every bucket that can be listed',
    ...list(matching(/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/, 'a bucket name')),
  },
  minAge: {
    variable: 'SVC_PROXY_GC_MIN_AGE',
    flag: 'min-age',
    summary: 'Leave younger objects alone; at least a day',
    fallback: '24h',
    ...duration(day, century),
  },
  delete: {
    variable: 'SVC_PROXY_GC_DELETE',
    flag: 'delete',
    summary: 'Delete what was found; without it nothing is touched',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
} satisfies Settings;

export type GcSettings = Resolved<typeof gcSettings>;
