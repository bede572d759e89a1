import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ReadinessCheck, watchReadiness } from '../../../../src/plugins/proxy/readiness.ts';
import { createHealth } from '../../../../src/runtime/health/health.ts';
import { sleep } from '../../../../src/runtime/lifecycle/wait.ts';
import { quietLog } from '../../../support/quiet-log.ts';
import { waitFor } from '../../../support/wait-for.ts';

const test = suite('the watch over what a proxy needs');

type CheckBehaviour = 'holds' | 'fails' | 'hangs' | 'is refused' | 'passes';

/** A check whose outcome a test chooses, with what became of its runs. */
class Chosen implements ReadinessCheck {
  readonly condition = 'chosen';
  outcome: CheckBehaviour = 'holds';
  runs = 0;
  atOnce = 0;
  mostAtOnce = 0;
  aborted = 0;

  async run(signal: AbortSignal): Promise<void> {
    this.runs++;
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce);
    try {
      if (this.outcome === 'hangs') await sleep(60_000, signal);
      if (this.outcome !== 'holds') throw new Error(this.outcome);
    } catch (error) {
      if (signal.aborted) this.aborted++;
      throw error;
    } finally {
      this.atOnce--;
    }
  }

  explain(error: unknown) {
    const reason = (error as Error).message;
    return { reason, lasting: reason === 'is refused', passing: reason === 'passes' };
  }
}

function watched(outcome: CheckBehaviour, timings = { everyMs: 40, againMs: 2, timeoutMs: 20 }) {
  const check = new Chosen();
  check.outcome = outcome;
  const health = createHealth();
  const ended = new AbortController();
  /** What was told, each with the number of runs that had begun. */
  const told: string[] = [];
  const watch = watchReadiness([check], {
    conditions: {
      ready(condition) {
        told.push(`${check.runs} ready`);
        health.ready(condition);
      },
      notReady(condition, reason) {
        told.push(`${check.runs} ${reason}`);
        health.notReady(condition, reason);
      },
    },
    log: quietLog,
    signal: ended.signal,
    timings,
  });
  const end = () => ended.abort();
  const reason = () => health.snapshot().notReady.chosen;
  return { check, health, told, watch, end, reason };
}

test('is not ready before the first run has ended, and runs on while it holds', async () => {
  const { check, health, end, reason } = watched('holds');
  assert.is(reason(), 'not tried yet');
  await waitFor('three runs', () => check.runs >= 3);
  assert.ok(health.isReady());
  end();
});

test('a first failure tells at once; what held is doubted once, and then told, with the reason', async () => {
  const { check, told, end } = watched('fails', { everyMs: 10, againMs: 2, timeoutMs: 20_000 });
  await waitFor('the reason', () => told.length > 1);
  assert.equal(told.slice(0, 2), ['0 not tried yet', '1 fails']);
  check.outcome = 'holds';
  await waitFor('readiness', () => told.at(-1)?.endsWith(' ready'));
  check.outcome = 'fails';
  const { runs } = check;
  const { length } = told;
  await waitFor('the reason', () => told.length > length);
  assert.is(told[length], `${runs + 2} fails`);
  end();
});

test('what hangs is ended within its time, and never runs twice at a time', async () => {
  const { check, end, reason } = watched('hangs');
  await waitFor('three runs', () => check.aborted >= 3);
  assert.match(reason() ?? '', /no answer within 0.02 s/);
  assert.is(check.mostAtOnce, 1);
  end();
});

test('what is refused is not asked again before the next pass, unless there is news', async () => {
  const { check, health, watch, end, reason } = watched('is refused', {
    everyMs: 3_600_000,
    againMs: 1,
    timeoutMs: 1_000,
  });
  await waitFor('the reason', () => reason() === 'is refused');
  await sleep(50);
  assert.is(check.runs, 1);
  check.outcome = 'holds';
  watch.hurry();
  await waitFor('readiness', health.isReady);
  watch.hurry();
  await sleep(20);
  assert.is(check.runs, 2, 'what holds is not hurried');
  end();
});

test('what others saw to fail is told at once, and asked for until it holds', async () => {
  const { check, told, watch, health, end, reason } = watched('holds', {
    everyMs: 3_600_000,
    againMs: 4,
    timeoutMs: 1_000,
  });
  await waitFor('readiness', health.isReady);
  check.outcome = 'passes';
  watch.fails('chosen', { reason: 'seen' });
  assert.is(reason(), 'seen');
  // The pauses do not grow: a thousand runs would take hours.
  await waitFor('many runs', () => check.runs > 20);
  check.outcome = 'holds';
  await waitFor('readiness', health.isReady);
  assert.ok(told.at(-1)?.endsWith(' ready'));
  end();
});

test('the end of the process ends a run, and none follows', async () => {
  const { check, end } = watched('hangs', { everyMs: 1, againMs: 1, timeoutMs: 60_000 });
  await waitFor('a run', () => check.runs === 1);
  end();
  await waitFor('its end', () => check.aborted === 1);
  await sleep(30);
  assert.is(check.runs, 1);
});

test.run();
