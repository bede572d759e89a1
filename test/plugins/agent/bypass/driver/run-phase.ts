import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccessPathEntry } from '../../../../support/bypass/types.ts';
import { type AgentSession, startAgentSession } from './agent-session.ts';
import type { Attempt } from './attack.ts';
import { countAccessEvents, startCgroupSession } from './cgroup-session.ts';
import type { Place } from './place.ts';
import type { Machine, Phase } from './plan.ts';
import type { AccessEventLine, AttemptRecord, DriverRecord } from './records.ts';
import { scenarios } from './scenarios.ts';
import type { Session } from './session.ts';
import { registerTraced } from './traced.ts';
import { unprotected } from './unprotected.ts';
import { armLate, finishLate, walkAmongOthers, walkOnePhase } from './walk.ts';

/** The agent writes 20 hits a second into its log, and says how many it left out. */
const paceMs = 70;
/** The agent looks for hits 20 times a second. */
const settleMs = 400;

/** Kinds of attack paths that every agent of a machine guards, whomever they aim at. */
const othersToo: readonly AccessPathEntry['kind'][] = ['stack', 'interpreter'];

export interface Listeners {
  readonly tell: (record: DriverRecord) => void;
  readonly say: (text: string) => void;
}

/** Every attack path in one mode; what was reported is told once it cannot become more. */
export async function runPhase(
  machine: Machine,
  phase: Phase,
  paths: readonly AccessPathEntry[],
  { tell, say }: Listeners,
): Promise<void> {
  const began = performance.now();
  say(phase.name);
  const session = await startSession(machine, phase);
  say(`in force: tier ${session.facts.tier}`);
  try {
    const attempts = await walkAll(machine, paths, session, say);
    await sleep(settleMs);
    const { hits, facts } = session;
    for (const attempt of attempts) tell(asRecord(phase, attempt, hits));
    const counts = {
      logged: countAccessEvents(hits),
      counted: await session.counted(),
      held: session.held(),
    };
    const milliseconds = Math.round(performance.now() - began);
    tell({ kind: 'phase', phase: phase.name, ...facts, ...counts, milliseconds });
  } finally {
    await session.close();
  }
}

function startSession(machine: Machine, { name, mode, by }: Phase): Promise<Session> | Session {
  if (mode === undefined) return unprotected;
  const folder = join(machine.bpf, name);
  return by === 'cgroup' ? startCgroupSession(folder, mode) : startAgentSession(machine, folder, mode);
}

async function walkAll(
  machine: Machine,
  paths: readonly AccessPathEntry[],
  session: Session,
  say: Listeners['say'],
): Promise<Attempt[]> {
  const isLate = ({ needs }: AccessPathEntry) => needs.includes('two-phase');
  const [early, late] = await Promise.all([session.place(), session.place()]);
  await early.protect();
  say('covered');
  const attempts: Attempt[] = [];
  const walk = async (attempt: () => Promise<Attempt>) => {
    const [made] = await Promise.all([attempt(), sleep(paceMs)]);
    say(`${made.path} ${made.outcome}`);
    attempts.push(made);
  };
  const isOthers = ({ kind }: AccessPathEntry) => !machine.own && !session.kills && othersToo.includes(kind);
  for (const entry of paths.filter((entry) => !isLate(entry))) {
    await walk(() => (isOthers(entry) ? walkAmongOthers : walkOnePhase)(machine, entry, early));
  }
  for (const scenario of scenarios) {
    if (scenario.inCgroup === undefined || 'path' in early) await walk(() => scenario.walk(machine, early));
  }
  await early.end();
  say('the first victims are gone');
  await walkLate(machine, paths.filter(isLate), session, late, walk, say);
  return attempts;
}

/** All of them at once come before the protection of their victims, one after the other what they do then. */
async function walkLate(
  machine: Machine,
  paths: readonly AccessPathEntry[],
  session: Session,
  place: Place,
  walk: (attempt: () => Promise<Attempt>) => Promise<void>,
  say: Listeners['say'],
): Promise<void> {
  const isTraced = ({ path }: AccessPathEntry) => 'socket' in session && path === 'tracer-before';
  const untraced = paths.filter((entry) => !isTraced(entry));
  const late = await Promise.all(untraced.map((entry) => armLate(machine, entry, place)));
  say('armed');
  const refused = await place.protect();
  if (refused !== undefined) throw new Error(`The registrar was refused: ${refused.message}`);
  for (const each of late) await walk(() => finishLate(each));
  await place.end();
  for (const { path } of paths.filter(isTraced)) {
    await walk(() => registerTraced(machine, path, (session as AgentSession).socket));
  }
}

/** Each attempt has a victim of its own; what leads to all memory has none, and is known by the attacker. */
function asRecord({ name }: Phase, attempt: Attempt, hits: readonly AccessEventLine[]): AttemptRecord {
  const isOf = ({ targetPid, sourcePid }: AccessEventLine) =>
    targetPid === undefined ? sourcePid === attempt.attacker : attempt.targets.includes(targetPid);
  return { kind: 'attempt', phase: name, ...attempt, hits: hits.filter(isOf) };
}
