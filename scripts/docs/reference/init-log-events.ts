import { readdirSync, readFileSync } from 'node:fs';
import { ROOT } from '../../lib/paths.mjs';
import type { LogEvent } from './log-events.ts';

const call = /log_line\(\s*"(\w+)",\s*"([\w.-]+)"((?:,|\s|"(?:[^"\\]|\\.)*")*)/g;

/** The events that svc-init writes, in C. */
export function initLogEvents(): LogEvent[] {
  return readdirSync(`${ROOT}/init`).flatMap((file) => {
    const text = readFileSync(`${ROOT}/init/${file}`, 'utf8');
    return [...text.matchAll(call)].map(([, level = '', name = '', formats = '']) => ({
      name,
      path: `init/${file}`,
      levels: [level],
      fields: [...formats.matchAll(/\\"(\w+)\\":/g)].map(([, field = '']) => field),
    }));
  });
}
