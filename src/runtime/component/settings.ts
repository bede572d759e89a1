import { duration, enumeration, type Resolved, type Settings } from '../settings/setting.ts';

/** Settings that every component has. */
export const commonSettings = {
  logLevel: {
    variable: 'SVC_LOG_LEVEL',
    flag: 'log-level',
    summary: 'Lowest level that is logged',
    fallback: 'info',
    ...enumeration('debug', 'info', 'warn', 'error'),
  },
  logFormat: {
    variable: 'SVC_LOG_FORMAT',
    flag: 'log-format',
    summary: 'json or text; unset: text on a terminal, else json',
    ...enumeration('json', 'text'),
  },
  shutdownGrace: {
    variable: 'SVC_SHUTDOWN_GRACE',
    flag: 'shutdown-grace',
    summary: 'How long requests in flight may take after SIGTERM',
    fallback: '25s',
    ...duration(),
  },
} satisfies Settings;

export type CommonSettings = typeof commonSettings;
export type CommonConfig = Resolved<CommonSettings>;

/** A component's own settings together with the common ones. */
export function withCommonSettings<S extends Settings>(own: S): S & CommonSettings {
  return { ...own, ...commonSettings };
}
