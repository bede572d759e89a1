import { randomBytes } from 'node:crypto';
import { BoundedMap } from '../../runtime/bounds/bounded-map.ts';
import { describeError, type Logger } from '../../runtime/logging/logger.ts';
import type { KubeClient } from './client.ts';

/** The object of an event; `kubectl describe` shows the event with it. */
export interface Regarding {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
}

export interface EventNote {
  readonly regarding: Regarding;
  readonly type: 'Normal' | 'Warning';
  /** One word in camel case: `ForeignObject`. */
  readonly reason: string;
  /** The activity in camel case: `Reconcile`. */
  readonly action: string;
  /** A sentence for people; truncated after 1 KiB. */
  readonly note: string;
}

export interface EventRecorder {
  /**
   * Records each event at most once in ten minutes. Never throws and is not awaited, because a lost event does no harm.
   */
  record(event: EventNote): void;
  /** Resolves when no event is being sent. */
  settled(): Promise<void>;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  /** Such as `svc-operator`, and the name of this replica. */
  readonly controller: string;
  readonly instance: string;
  readonly signal: AbortSignal;
  readonly now?: () => number;
}

const repeatMs = 10 * 60_000;
const mostRemembered = 2_000;
const mostPending = 16;
const longestNote = 1_024;
const timeoutMs = 5_000;

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, log, signal, now = Date.now } = options;
  const told = new BoundedMap<string, true>(mostRemembered, { age: { mostMs: repeatMs, now } });
  const pending = new Set<Promise<void>>();
  const send = async (event: EventNote) => {
    const { namespace, name } = event.regarding;
    const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`;
    try {
      await client.request({ method: 'POST', path, body: bodyOf(event, options), signal, timeoutMs });
    } catch (error) {
      told.delete(keyOf(event));
      if (!signal.aborted) log.warn('event.lost', { namespace, name, ...describeError(error) });
    }
  };
  return {
    record(event) {
      if (signal.aborted || pending.size >= mostPending || isRepeated(told, keyOf(event))) return;
      const sending = send(event).finally(() => pending.delete(sending));
      pending.add(sending);
    },
    settled: async () => void (await Promise.all(pending)),
  };
}

function isRepeated(told: BoundedMap<string, true>, key: string): boolean {
  if (told.get(key)) return true;
  told.set(key, true);
  return false;
}

function keyOf({ regarding, reason, note }: EventNote): string {
  const { kind, namespace, name, uid } = regarding;
  return JSON.stringify([kind, namespace, name, uid, reason, note]);
}

function bodyOf(event: EventNote, { controller, instance }: EventRecorderOptions): object {
  const { regarding, note, ...rest } = event;
  const { namespace } = regarding;
  const name = `${regarding.name.slice(0, 200)}.${randomBytes(8).toString('hex')}`;
  return {
    ...{ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name, namespace } },
    ...{ regarding, note: note.slice(0, longestNote), ...rest },
    eventTime: new Date().toISOString().replace('Z', '000Z'),
    ...{ reportingController: controller, reportingInstance: instance },
  };
}
