import { readFileSync } from 'node:fs';
import { tierNames } from '../../../core/protection/tier.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Caller } from './caller.ts';
import { lineLimit } from './line-limit.ts';
import { asRefusal, type Outcome, type Refusal } from './refusal.ts';
import { type RegisterDeps, type Registered, type RegisterRequest, register } from './register.ts';
import type { CountRegistration } from './registration-metrics.ts';
import type { Registry } from './registry.ts';
import { type ReportMessage, report } from './report.ts';
import { versionText } from './version-text.ts';

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
  /** Called when a process has registered that was not, or reported. */
  readonly onChange: () => void;
}

/** The caller, or why it cannot be told. */
export type Identity = Caller | Refusal;

/** The schema's calls, each done when it returns or resolves. All throw Refusal. */
export interface Calls {
  /** @param asker aborted with a Refusal when the caller has given up */
  register(identity: Identity, message: RegisterMessage, asker: AbortSignal): Promise<RegisterAnswer>;
  report(identity: Identity, message: ReportMessage): void;
}

const refusalsPerSecond = 10;

export function createCalls(deps: CallDeps): Calls {
  const { guard, count, registry, readCgroups } = deps;
  const mayLog = lineLimit(refusalsPerSecond);
  const refused = (call: string, identity: Identity, error: unknown): Refusal => {
    const refusal = asRefusal(error);
    if (refusal.outcome === 'failed' || mayLog()) logRefusal(deps.log, call, identity, refusal);
    return refusal;
  };
  return {
    async register(identity, message, asker) {
      const begun = performance.now();
      let outcome: Outcome = 'registered';
      try {
        const registered = await register(known(identity), message, deps, asker);
        const isNew = registry.add(registered.facts);
        if (isNew) logRegistered(deps, registered, message);
        if (isNew) deps.onChange();
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
        report(known(identity), message, guard, readCgroups, registry);
        deps.onChange();
      } catch (error) {
        throw refused('report', identity, error);
      }
    },
  };
}

function known(identity: Identity): Caller {
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

function logRefusal(log: Logger, call: string, identity: Identity, refusal: Refusal): void {
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
