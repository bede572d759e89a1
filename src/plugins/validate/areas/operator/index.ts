import type { Check } from '../../contract.ts';
import { annotatedPodMutated } from './annotated-pod-mutated.ts';
import { available } from './available.ts';
import { certificateExpiry } from './certificate-expiry.ts';
import { configuredPodMutated } from './configured-pod-mutated.ts';
import { definitions } from './definitions.ts';
import { development } from './development.ts';
import { leads } from './leads.ts';
import { podsWrapped } from './pods-wrapped.ts';
import { replicas } from './replicas.ts';
import { secretMappings } from './secret-mappings.ts';
import { secretReferences } from './secret-references.ts';
import { serviceConfigs } from './service-configs.ts';
import { tokenAudience } from './token-audience.ts';
import { verification } from './verification.ts';
import { versions } from './versions.ts';
import { webhookBundle } from './webhook-bundle.ts';
import { webhookEntries } from './webhook-entries.ts';
import { webhookFailsClosed } from './webhook-fails-closed.ts';
import { webhookSelectors } from './webhook-selectors.ts';
import { wrappersCurrent } from './wrappers-current.ts';

export const operatorChecks: readonly Check[] = [
  ...[available, leads, replicas, versions, definitions, development],
  ...[webhookEntries, webhookFailsClosed, webhookSelectors, webhookBundle, certificateExpiry],
  ...[annotatedPodMutated, configuredPodMutated, serviceConfigs, secretMappings],
  ...[podsWrapped, wrappersCurrent, secretReferences, verification, tokenAudience],
];
