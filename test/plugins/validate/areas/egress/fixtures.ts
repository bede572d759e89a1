import { probeStatus } from '../../../../../src/plugins/validate/areas/egress/enforced.ts';
import type { ValidateConfig } from '../../../../../src/plugins/validate/settings.ts';
import { added, changed, fixtureOf, without } from '../../cluster/fixture-of.ts';
import type { Fixture, Fixtures } from '../../fixture.ts';

const passes = fixtureOf();

/** Probes may run; those of protected pods end with that status, others reach what they try. */
const probing = (covered: number) => {
  const fixture = fixtureOf((cluster) => ({
    ...cluster,
    ends: ({ metadata }) =>
      metadata['labels'] && 'svc/protected' in (metadata['labels'] as object) ? covered : probeStatus.reached,
  }));
  return (): Fixture => {
    const made = fixture();
    return { ...made, config: { ...made.config, probePods: true } as ValidateConfig };
  };
};

/** The store policy lists one address of a name, which points to these. */
const turning = (addresses: readonly string[]) => {
  const fixture = fixtureOf(
    changed('NetworkPolicy', 'svc-egress-shop-store', (one) => ({
      ...one,
      metadata: { ...one.metadata, annotations: { 'svc/egress-hosts': 's3.example.com=192.0.2.8' } },
    })),
  );
  const resolver = async () => ({ addresses, failed: false });
  return (): Fixture => ({ ...fixture(), lookUps: { resolver, pauseMs: 0 } });
};

export const fixtures: Fixtures = {
  'SVC-EGRESS-001': { passes, fails: fixtureOf(without('NetworkPolicy', 'svc-egress-shop')) },
  'SVC-EGRESS-002': {
    passes,
    fails: fixtureOf(
      added({
        ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
        metadata: { name: 'allow-all', namespace: 'shop' },
        spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{}] },
      }),
    ),
  },
  'SVC-EGRESS-004': { passes: probing(probeStatus.silent), fails: probing(probeStatus.reached) },
  'SVC-EGRESS-005': { passes: turning(['192.0.2.8']), fails: turning(['192.0.2.8', '192.0.2.9']) },
  'SVC-EGRESS-003': {
    passes,
    fails: fixtureOf(
      changed('DaemonSet', 'cilium', (one) => ({
        ...one,
        metadata: { ...one.metadata, name: 'kube-flannel-ds' },
      })),
    ),
  },
};
