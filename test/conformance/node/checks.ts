import { agentLoss } from './agent-loss.ts';
import { attacks, neighbours } from './attacks.ts';
import type { NodeCheck } from './bed.ts';
import { broken } from './broken.ts';
import { dailyUse } from './daily-use.ts';
import { egress } from './egress.ts';
import { agentTier, chartResources, installChart } from './install.ts';
import { kinds } from './kinds.ts';
import { proxied } from './proxied.ts';
import { reboot } from './reboot.ts';
import { rotation } from './rotation.ts';
import { figures } from './tables.ts';
import { tokens } from './tokens.ts';
import { uninstallChart } from './uninstall.ts';
import { upgrade } from './upgrade.ts';
import { validates } from './validate.ts';
import { workloads } from './workloads.ts';

/** In the order in which they need each other: what installs first, what takes away last. */
export const CHECKS: Readonly<Record<string, NodeCheck>> = {
  ...{ installChart, agentTier, workloads, dailyUse, kinds, proxied, attacks, neighbours },
  tokens,
  ...{ figures, agentLoss, validates, broken, egress, chartResources, reboot, rotation },
  ...{ upgrade, uninstallChart },
};
