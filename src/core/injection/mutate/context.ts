import type { Pod } from '../../kubernetes/pod.ts';
import type { CallerKeys, InjectionDefaults, InjectionPlan, Surroundings } from '../contract.ts';
import type { FolderDelivery } from './delivery.ts';
import type { Ports } from './ports.ts';
import type { Remarks } from './remarks.ts';
import type { Shared } from './shared.ts';

/** What the steps of one mutation share. */
export interface Context {
  /** As it came. */
  readonly pod: Pod;
  readonly plan: InjectionPlan;
  readonly defaults: InjectionDefaults;
  readonly surroundings: Surroundings;
  readonly ports: Ports;
  readonly folder: FolderDelivery;
  readonly certificates: Shared | undefined;
  readonly token: Shared;
  /** Undefined: callers of the proxy need none. */
  readonly callerKeys: CallerKeys | undefined;
  readonly remarks: Remarks;
}
