import { type MeasuredMessage, measured } from '../../../core/protection/measured.ts';
import type { ReportedPod } from '../contract.ts';

/** A wrapper chooses it. */
const longestVersion = 64;

export interface WrapperMessage extends MeasuredMessage {
  readonly wrapperVersion: string;
}

/** What a wrapper last told its agent. */
export function measuredOf(message: WrapperMessage): ReportedPod['reports'][number] {
  return { wrapperVersion: message.wrapperVersion.slice(0, longestVersion), ...measured(message) };
}
