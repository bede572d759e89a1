import { readFileSync } from 'node:fs';
import type { Logger } from '../../../runtime/logging/logger.ts';
import {
  type MeasuredMessage,
  measured,
  type Tier,
  tierNames,
} from '../../../runtime/protocols/protection/report.ts';
import type { Guard, ProcessFacts } from '../guard/contract.ts';
import {
  type CallerProcess,
  podOf,
  type ReadCgroups,
  requireReady,
  requireSame,
  versionText,
} from './caller.ts';
import type { Protecting } from './protecting.ts';
import {
  asRegistrationRefused,
  type CountRegistration,
  type RegistrationOutcome,
  RegistrationRefused,
} from './refusal.ts';
import type { Registry } from './registry.ts';

export interface RegisterMessage extends RegisterRequest {
  readonly wrapperVersion: string;
}

export interface RegisterAnswer {
  readonly registeredPid: number;
  /** Numbered as in the schema. */
  readonly tier: number;
  readonly enforcing: boolean;
  readonly agentVersion: string;
  readonly reason: string;
}

export interface CallDeps extends RegisterDeps {
  readonly log: Logger;
  readonly count: CountRegistration;
  readonly registry: Registry;
  /** Of the agent. */
  readonly version: string;
  /** Called when a new process has registered, or a process has reported. */
  readonly onChange: () => void;
  /** Called before a registration or report is answered. */
  readonly onProtected: OnProtected;
}

/** @param podUid as in the name of the pod's cgroup; undefined: the process is in no pod */
export type OnProtected = (process: ProcessFacts, podUid: string | undefined) => void;

/** The caller, or why it cannot be identified. */
export type IdentifiedCaller = CallerProcess | RegistrationRefused;

/** The schema's calls, each done when it returns or resolves. All throw RegistrationRefused. */
export interface Calls {
  /** @param asker aborted with a RegistrationRefused when the caller has given up */
  register(identity: IdentifiedCaller, message: RegisterMessage, asker: AbortSignal): Promise<RegisterAnswer>;
  report(identity: IdentifiedCaller, message: ReportMessage): void;
}

const refusalsPerSecond = 10;

export function createCalls(deps: CallDeps): Calls {
  const { guard, count, registry, readCgroups } = deps;
  const mayLog = lineLimit(refusalsPerSecond);
  const refused = (call: string, identity: IdentifiedCaller, error: unknown): RegistrationRefused => {
    const refusal = asRegistrationRefused(error);
    if (refusal.outcome === 'failed' || mayLog()) logRefusal(deps.log, call, identity, refusal);
    return refusal;
  };
  return {
    async register(identity, message, asker) {
      const begun = performance.now();
      let outcome: RegistrationOutcome = 'registered';
      try {
        const registered = await register(known(identity), message, deps, asker);
        const isNew = registry.add(registered.facts);
        if (isNew) logRegistered(deps, registered, message);
        if (isNew) deps.onChange();
        deps.onProtected(registered.facts, registered.podUid);
        return answer(registered, deps);
      } catch (error) {
        const refusal = refused('register', identity, error);
        outcome = refusal.outcome;
        throw refusal;
      } finally {
        count(outcome, (performance.now() - begun) / 1000);
      }
    },
    report(identity, message) {
      try {
        const { facts, podUid } = report(known(identity), message, guard, readCgroups, registry);
        deps.onChange();
        deps.onProtected(facts, podUid);
      } catch (error) {
        throw refused('report', identity, error);
      }
    },
  };
}

function known(identity: IdentifiedCaller): CallerProcess {
  if (identity instanceof Error) throw identity;
  return identity;
}

function answer({ facts, tier }: Registered, { guard, version }: CallDeps): RegisterAnswer {
  const { enforcing, reason } = guard.status;
  return { registeredPid: facts.pid, tier, enforcing, agentVersion: version, reason };
}

function logRegistered(
  { log, guard }: CallDeps,
  { facts, tier, podUid }: Registered,
  message: RegisterMessage,
) {
  const { pid, openedBefore } = facts;
  const fields = { pid, pod: podUid, comm: commOf(pid), version: versionText(message.wrapperVersion) };
  log.info('registered', { ...fields, tier: tierNames[tier], enforcing: guard.status.enforcing });
  if (openedBefore) log.warn('registered.opened_before', fields);
}

function logRefusal(
  log: Logger,
  call: string,
  identity: IdentifiedCaller,
  refusal: RegistrationRefused,
): void {
  const { outcome, message, cause } = refusal;
  const pid = identity instanceof Error ? undefined : identity.pid;
  const fields = { call, outcome, pid, reason: message };
  if (outcome === 'failed') log.error('registration.failed', { ...fields, error: String(cause) });
  else if (outcome === 'not_ready') log.debug('registration.refused', fields);
  else log.warn('registration.refused', fields);
}

function commOf(pid: number): string | undefined {
  try {
    return versionText(readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd());
  } catch {
    return undefined;
  }
}

/** Lets at most `perSecond` lines pass in each second of the clock, so that callers cannot fill the log. */
export function lineLimit(perSecond: number, now: () => number = () => performance.now()) {
  let second = -1;
  let passed = 0;
  return (): boolean => {
    const current = Math.floor(now() / 1000);
    if (current !== second) passed = 0;
    second = current;
    passed += 1;
    return passed <= perSecond;
  };
}

interface RegisterRequest {
  readonly podUid: string;
}

interface RegisterDeps {
  readonly guard: Guard;
  readonly protecting: Protecting;
  readonly readCgroups: ReadCgroups;
}

interface Registered {
  readonly facts: ProcessFacts;
  readonly tier: Tier;
  readonly podUid: string | undefined;
}

/**
 * Protects the caller, unless its claims are false or another process already has access to it.
 * @param asker aborted when the caller has given up
 * @throws RegistrationRefused; SvcError of the guard; the asker's reason
 */
async function register(
  caller: CallerProcess,
  { podUid: named }: RegisterRequest,
  { guard, protecting, readCgroups }: RegisterDeps,
  asker: AbortSignal,
): Promise<Registered> {
  requireReady(guard);
  const podUid = podOf(caller.pid, named, readCgroups);
  requireSame(caller, guard.inspect(caller.pid));
  // Protected before it is judged, so that no other process can get access in between.
  const { openedBefore } = requireSame(caller, await protecting.protect(caller, asker));
  const isTraced = await guard.isTraced(caller.pid, asker);
  // read again, because the result may stem from another request, some seconds ago
  const facts = { ...requireSame(caller, guard.inspect(caller.pid)), openedBefore };
  const { tier = 4 } = guard.status;
  if (isTraced) throw traced(caller.pid);
  if (tier === 4) refuseOpened(facts);
  else requireCovered(facts);
  return { facts, tier, podUid };
}

function traced(pid: number): RegistrationRefused {
  return new RegistrationRefused(
    'traced',
    `Process ${pid} is being traced; detach the debugger and restart the process.`,
  );
}

/** Only without a guarding tier: those check reads from descriptors that were opened before. */
function refuseOpened({ openedBefore, pid }: ProcessFacts): void {
  if (!openedBefore) return;
  throw new RegistrationRefused(
    'opened_before',
    `Another process has opened the memory or environment of process ${pid}, and this node cannot stop it from reading; restart the process.`,
  );
}

function requireCovered({ covered, pid }: ProcessFacts): void {
  if (!covered) throw new Error(`Process ${pid} is not covered although it was registered`);
}

export interface ReportMessage extends MeasuredMessage {
  readonly podUid: string;
  readonly wrapperVersion: string;
}

/**
 * Keeps the report of a registered process.
 * @throws RegistrationRefused
 */
function report(
  caller: CallerProcess,
  message: ReportMessage,
  guard: Guard,
  read: ReadCgroups,
  registry: Registry,
): Pick<Registered, 'facts' | 'podUid'> {
  requireReady(guard);
  const { pid, start } = caller;
  const podUid = podOf(pid, message.podUid, read);
  const facts = requireSame(caller, guard.inspect(pid));
  if (!facts.covered && guard.status.tier !== 4) throw notRegistered(pid);
  const wrapperVersion = versionText(message.wrapperVersion);
  if (!registry.report({ pid, start, podUid, wrapperVersion, ...measured(message) }))
    throw notRegistered(pid);
  return { facts, podUid };
}

function notRegistered(pid: number): RegistrationRefused {
  return new RegistrationRefused(
    'not_registered',
    `Process ${pid} is not registered; call Register before Report.`,
  );
}
