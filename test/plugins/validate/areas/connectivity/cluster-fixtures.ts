import { answering, changed, fixtureOf } from '../../cluster/fixture-of.ts';
import type { Fixtures } from '../../fixture.ts';

const passes = fixtureOf();
const operator = 'svc-system/svc-operator-0:8080/metrics';

export const fixtures: Fixtures = {
  'SVC-NET-001': { passes, fails: fixtureOf(answering('shop/web:8081/healthz', 503)) },
  'SVC-NET-002': {
    passes,
    fails: fixtureOf(
      changed('Lease', 'svc-operator', ({ spec, ...lease }) => ({
        ...lease,
        spec: { ...spec, renewTime: '2020-01-01T00:00:00.000000Z' },
      })),
    ),
  },
  'SVC-NET-003': {
    passes,
    fails: fixtureOf(answering(operator, 'svc_image_lookups_total{outcome="failed"} 2')),
  },
  'SVC-NET-004': {
    passes,
    fails: fixtureOf(
      answering('shop/web:8090/metrics', 'svc_proxy_requests_total{operation="PutObject",status="503"} 4'),
    ),
  },
  'SVC-NET-005': { passes, fails: fixtureOf(answering('shop/web:8090/readyz', 503)) },
  'SVC-NET-006': {
    passes,
    fails: fixtureOf(answering(operator, 'svc_nodes{tier="lsm",enforcing="true"} 0')),
  },
};
