import { matching } from '../../core/settings/parsers.ts';
import type { Settings } from '../../core/settings/setting.ts';
import { transitKeyName } from '../../core/vault/names.ts';

/** `.` and `..` would ask another path than the one that is named. */
const segment = /^(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)*$/;

/** Which KEK; said alike to the proxy and to the command that looks at it. */
export const transitSettings = {
  transitMount: {
    variable: 'SVC_TRANSIT_MOUNT',
    flag: 'transit-mount',
    summary: 'Mount of the transit engine',
    fallback: 'transit',
    ...matching(segment, 'a mount path such as transit'),
  },
  transitKey: {
    variable: 'SVC_TRANSIT_KEY',
    flag: 'transit-key',
    summary: 'Transit key that wraps the data keys',
    fallback: 'svc',
    ...transitKeyName(),
  },
} satisfies Settings;
