import { isatty } from 'node:tty';
import { svcVersion } from '../../runtime/component/package-folder.ts';
import {
  createLeanLogger,
  descriptorSink,
  type LogFormat,
  type Sink,
} from '../../runtime/logging/lean-logger.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { canWrite } from '../../runtime/native/sockets.ts';
import type { ResolvedWrapperSettings } from './settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

const component = 'wrapper';
const standardError = 2;

/** Before the settings are known, for the line that says what is wrong with them. */
export function earlyLogger(env: Env): Logger {
  const wanted = env['SVC_LOG_FORMAT'];
  const format = wanted === 'json' || wanted === 'text' ? wanted : formatForOutput();
  return createLeanLogger({ component, format, sink: standardErrorSink() });
}

export function configuredLogger({ logLevel, logFormat }: ResolvedWrapperSettings): Logger {
  const format = logFormat ?? formatForOutput();
  return createLeanLogger({ component, level: logLevel, format, sink: standardErrorSink() });
}

function formatForOutput(): LogFormat {
  return isatty(standardError) ? 'text' : 'json';
}

/**
 * The log. The application shares its descriptor, which is therefore a blocking one: unasked, a write to a pipe that
 * nobody reads would never come back, and no signal would reach the application any more.
 */
function standardErrorSink(): Sink {
  return descriptorSink(standardError, { ready: canWrite });
}

/** Written into the bundle, beside which there need be no package.json. */
declare const SVC_BUNDLED_VERSION: string | undefined;

export function wrapperVersion(): string {
  return typeof SVC_BUNDLED_VERSION === 'string' ? SVC_BUNDLED_VERSION : svcVersion();
}
