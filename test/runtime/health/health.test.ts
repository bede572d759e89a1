import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createHealth } from '../../../src/runtime/health/health.ts';

const conditions = suite('health');

conditions('is ready while no condition is not', () => {
  const health = createHealth();
  assert.ok(health.isReady());
  health.notReady('vault', 'no token yet');
  health.notReady('start', 'starting');
  health.ready('start');
  assert.not.ok(health.isReady());
  assert.equal(health.snapshot().notReady, { vault: 'no token yet' });
  health.ready('vault');
  assert.equal(health.snapshot(), {
    status: 'ok',
    ready: true,
    notAlive: {},
    notReady: {},
    degraded: {},
    facts: {},
  });
});

conditions('keeps the latest reason', () => {
  const health = createHealth();
  health.notReady('vault', 'sealed');
  health.notReady('vault', 'away');
  assert.equal(health.snapshot().notReady, { vault: 'away' });
});

conditions('is degraded apart from ready', () => {
  const health = createHealth();
  health.degraded('renewal', 'denied');
  assert.equal(health.snapshot(), {
    status: 'degraded',
    ready: true,
    notAlive: {},
    notReady: {},
    degraded: { renewal: 'denied' },
    facts: {},
  });
  health.recovered('renewal');
  assert.is(health.snapshot().status, 'ok');
});

conditions('keeps the newest value of each fact', () => {
  const health = createHealth();
  health.fact('tier', 1);
  health.fact('tier', 3);
  health.fact('enforcing', false);
  assert.equal(health.snapshot().facts, { tier: 3, enforcing: false });
});

conditions.run();
