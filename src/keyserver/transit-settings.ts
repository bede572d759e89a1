import { matching, type Settings } from '../runtime/settings/setting.ts';
import { transitKeyName } from './path.ts';

/** `.` and `..` would request another path. */
const segment = /^(?!\.{1,2}(\/|$))[\w.-]+(\/(?!\.{1,2}(\/|$))[\w.-]+)*$/;

export const mountPath = () => matching(segment, 'a mount path such as transit');

/** Selects the KEK; shared by the proxy and the commands that check it. */
export const transitSettings = {
  transitMount: {
    variable: 'SVC_TRANSIT_MOUNT',
    flag: 'transit-mount',
    summary: 'Mount of the transit engine',
    fallback: 'transit',
    ...mountPath(),
  },
  transitKey: {
    variable: 'SVC_TRANSIT_KEY',
    flag: 'transit-key',
    summary: 'Transit key that wraps the data keys',
    fallback: 'svc',
    ...transitKeyName(),
  },
} satisfies Settings;
