import type { ProcessProtection, SecretMemory } from '../../../core/protection/report.ts';
import type { Measured } from './contract.ts';

/** A wrapper chooses it. */
const longestVersion = 64;

/** svc.operator.v1.Measured as grpc-js takes it; what was not told stays out. */
export function measuredMessage(measured: Measured): object {
  const { wrapperVersion, wrapper, application, secretMemory, delivery } = measured;
  return {
    wrapperVersion: wrapperVersion.slice(0, longestVersion),
    wrapper: wrapper && processMessage(wrapper),
    application,
    secretMemory: secretMemory && secretMemoryMessage(secretMemory),
    delivery: `DELIVERY_${delivery.toUpperCase()}`,
  };
}

function processMessage(wrapper: ProcessProtection): object {
  return { ...wrapper, lockMode: `LOCK_MODE_${wrapper.lockMode.toUpperCase()}` };
}

function secretMemoryMessage(memory: SecretMemory): object {
  return { ...memory, kind: `SECRET_MEMORY_KIND_${memory.kind.toUpperCase()}` };
}
