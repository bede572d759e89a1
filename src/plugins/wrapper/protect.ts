import type { Logger } from '../../runtime/logging/logger.ts';
import { type LockReport, lockProcessMemory } from '../../runtime/native/process-lock.ts';
import { setCoreLimit, setDumpable, setSubreaper } from '../../runtime/native/self.ts';
import { inheritedEnvironment } from './delivery/inherited.ts';
import type { ResolvedWrapperSettings } from './settings.ts';

export interface ProtectedProcess {
  readonly lock: LockReport;
  /** The environment that the wrapper was started with, without the token, as `KEY=VALUE` bytes. */
  readonly inherited: readonly Uint8Array[];
}

/**
 * Protects this process before it holds any secret: no core dumps, no swap, no reading by others of its user.
 * @throws SvcError MEMORY_LOCK_REFUSED (exit 71) where the lock is required and refused
 */
export function protectProcess(settings: ResolvedWrapperSettings, log: Logger): ProtectedProcess {
  if (settings.coreLimit !== 'inherit') setCoreLimit(settings.coreLimit);
  const lock = lockProcessMemory({ required: settings.requireMlock });
  if (lock.mode !== 'all') log.warn('memory.lock', { mode: lock.mode, reason: lock.reason });
  const inherited = inheritedEnvironment();
  setDumpable(false);
  // an application that takes the wrapper's place knows nothing of orphans that would come to it
  if (!settings.exec) setSubreaper();
  return { lock, inherited };
}
