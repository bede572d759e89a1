import { fixtures as agent } from './areas/agent/fixtures.ts';
import { fixtures as cluster } from './areas/cluster/fixtures.ts';
import { fixtures as configuration } from './areas/configuration/fixtures.ts';
import { fixtures as fromCluster } from './areas/connectivity/cluster-fixtures.ts';
import { fixtures as fromHere } from './areas/connectivity/from-here-fixtures.ts';
import { fixtures as egress } from './areas/egress/fixtures.ts';
import { fixtures as host } from './areas/host/fixtures.ts';
import { fixtures as kek } from './areas/kek/fixtures.ts';
import { fixtures as operator } from './areas/operator/fixtures.ts';
import { fixtures as proxyStore } from './areas/proxy-store/fixtures.ts';
import { fixtures as recovery } from './areas/recovery/fixtures.ts';
import { fixtures as secretsServer } from './areas/secrets-server/fixtures.ts';
import type { Fixtures } from './fixture.ts';

/** By area. */
export const allFixtures: readonly Fixtures[] = [
  ...[configuration, secretsServer, kek, cluster, fromCluster, fromHere],
  ...[operator, agent, egress, proxyStore, recovery, host],
];
