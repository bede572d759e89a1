import type { Logger } from '../../../runtime/logging/logger.ts';
import type { SupervisionEvent } from '../supervise/index.ts';

/** One log line for what happens below the wrapper. */
export function logSupervision(event: SupervisionEvent, log: Logger): void {
  switch (event.kind) {
    case 'reaped':
      return log.debug('orphan.reaped', { pid: event.pid, exit_code: event.exitCode });
    case 'stopped':
      return log.info('application.stopped', { pid: event.pid, signal: event.signal });
    case 'continued':
      return log.info('application.continued', { pid: event.pid });
    case 'killed':
      return log.warn('application.killed', { pid: event.pid, grace_ms: event.graceMs });
    case 'undeliverable': {
      const { pid, signal, reason } = event;
      return log.warn('signal.undeliverable', { pid, signal, reason });
    }
    case 'left':
      return log.warn('orphans.left', { pids: event.pids.map(String) });
  }
}
