import { type Tier, tierNames } from '../../../core/protection/tier.ts';
import type { NodeState, ReportedPod, ReportedProcess } from './contract.ts';
import { measuredMessage } from './measured-message.ts';

/** Bounds of the schema. */
const mostPods = 1_000;
const mostProcesses = 5_000;
const mostMeasured = 1_000;
const longestReason = 500;

/** svc.operator.v1.NodeState as grpc-js takes it, within the schema's bounds. */
export function stateMessage(state: NodeState): object {
  const { tier, enforcing, reason, passedOver, enforceMode } = state;
  return {
    tier: tier === undefined ? 'TIER_UNSPECIFIED' : tierName(tier),
    enforcing,
    reason: clip(reason, longestReason),
    passedOver: passedOver.map((one) => ({
      tier: tierName(one.tier),
      reason: clip(one.reason, longestReason),
    })),
    enforceMode,
    ...podMessages(state.pods),
  };
}

function podMessages(pods: readonly ReportedPod[]): { pods: object[]; processesLeftOut: number } {
  const room = { processes: mostProcesses, measured: mostMeasured };
  const told = pods.slice(0, mostPods).map((pod) => podMessage(pod, room));
  const all = pods.reduce((sum, pod) => sum + pod.processes.length, 0);
  return { pods: told, processesLeftOut: all - (mostProcesses - room.processes) };
}

interface Room {
  processes: number;
  measured: number;
}

function podMessage(pod: ReportedPod, room: Room): object {
  const { uid, labelled, covered, uncoveredReason, processes } = pod;
  const told = processes.slice(0, room.processes);
  room.processes -= told.length;
  return {
    ...{ podUid: uid, labelled, covered, uncoveredReason: clip(uncoveredReason, longestReason) },
    processes: told.map((process) => processMessage(process, room)),
  };
}

function processMessage({ pid, start, registration, measured }: ReportedProcess, room: Room): object {
  const known = { pid, start: String(start), registration: `REGISTRATION_${registration.toUpperCase()}` };
  if (measured === undefined || room.measured === 0) return known;
  room.measured -= 1;
  return { ...known, measured: measuredMessage(measured) };
}

const tierName = (tier: Tier): string => `TIER_${tierNames[tier].toUpperCase()}`;
const clip = (text: string, length: number): string => text.slice(0, length);
