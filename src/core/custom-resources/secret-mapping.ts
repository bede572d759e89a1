import type { Condition } from './condition.ts';
import type { SecretVariables } from './service-config.ts';

/** KV paths and the variables that their fields become, under a name that several pods use. */
export interface SecretMappingSpec {
  readonly secrets: readonly SecretVariables[];
}

export interface SecretMappingStatus {
  readonly observedGeneration?: number;
  /** `ServiceConfig/<name>` and `Pod/<name>`, sorted, at most 50. */
  readonly usedBy?: readonly string[];
  readonly users?: number;
  readonly lastValidated?: string;
  readonly conditions?: readonly Condition[];
}
