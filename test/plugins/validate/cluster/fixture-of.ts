import type { ValidateConfig } from '../../../../src/plugins/validate/settings.ts';
import type { Fixture } from '../fixture.ts';
import { now } from './authority.ts';
import { type FakeCluster, type FakeObject, fakeClient } from './fake-cluster.ts';
import { healthyCluster } from './healthy-cluster.ts';

type Change = (cluster: FakeCluster) => FakeCluster;

/** The healthy cluster with changes, as a check is shown it. */
export const fixtureOf =
  (...changes: readonly Change[]) =>
  (): Fixture => {
    const cluster = changes.reduce<FakeCluster>((before, change) => change(before), healthyCluster());
    const client = fakeClient(cluster);
    return {
      cluster: async () => client,
      now: () => now,
      version: '0.1.0',
      config: { operatorNamespace: 'svc-system', probePods: false } as ValidateConfig,
    };
  };

/** Changes each object of that kind and name. */
export const changed =
  (kind: string, name: string, change: (object: FakeObject) => FakeObject): Change =>
  (cluster) => ({
    ...cluster,
    objects: cluster.objects.map((one) =>
      one.kind === kind && one.metadata.name === name ? change(one) : one,
    ),
  });

export const without =
  (kind: string, name: string): Change =>
  (cluster) => ({
    ...cluster,
    objects: cluster.objects.filter((one) => one.kind !== kind || one.metadata.name !== name),
  });

export const added =
  (...objects: readonly FakeObject[]): Change =>
  (cluster) => ({ ...cluster, objects: [...cluster.objects, ...objects] });

/** What a pod answers instead; undefined: nothing. */
export const answering =
  (key: string, page: string | number | undefined): Change =>
  (cluster) => {
    const { [key]: _, ...pages } = cluster.pages ?? {};
    return { ...cluster, pages: page === undefined ? pages : { ...pages, [key]: page } };
  };

export const admitting =
  (admit: NonNullable<FakeCluster['admit']>): Change =>
  (cluster) => ({ ...cluster, admit });
