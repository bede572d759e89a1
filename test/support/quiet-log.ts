import type { Logger } from '../../src/runtime/logging/logger.ts';

/** Says nothing. */
export const quietLog: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => quietLog,
};
