import { type MeasuredMessage, measured } from '../../../core/protection/measured.ts';
import type { Guard } from '../guard/contract.ts';
import { type Caller, requireReady, requireSame } from './caller.ts';
import { podOf, type ReadCgroups } from './pod.ts';
import { Refusal } from './refusal.ts';
import type { Registry } from './registry.ts';
import { versionText } from './version-text.ts';

export interface ReportMessage extends MeasuredMessage {
  readonly podUid: string;
  readonly wrapperVersion: string;
}

/**
 * Keeps what a registered process reports.
 * @throws Refusal
 */
export function report(
  caller: Caller,
  message: ReportMessage,
  guard: Guard,
  read: ReadCgroups,
  registry: Registry,
): void {
  requireReady(guard);
  const { pid, start } = caller;
  const podUid = podOf(pid, message.podUid, read);
  const { covered } = requireSame(caller, guard.inspect(pid));
  if (!covered && guard.status.tier !== 4) throw notRegistered(pid);
  const wrapperVersion = versionText(message.wrapperVersion);
  if (!registry.report({ pid, start, podUid, wrapperVersion, ...measured(message) }))
    throw notRegistered(pid);
}

function notRegistered(pid: number): Refusal {
  return new Refusal('not_registered', `Process ${pid} is not registered; call Register before Report.`);
}
