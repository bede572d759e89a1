import { coreDumps } from './addends/core-dumps.ts';
import { coverage } from './addends/coverage.ts';
import { delivery } from './addends/delivery.ts';
import { egress } from './addends/egress.ts';
import { enforcement } from './addends/enforcement.ts';
import { memoryLock } from './addends/memory-lock.ts';
import { references } from './addends/references.ts';
import { secretMemory } from './addends/secret-memory.ts';
import { verification } from './addends/verification.ts';
import { wrapper } from './addends/wrapper.ts';
import type { Rule } from './judgement.ts';

/** All parts of a score, in the order in which they are shown; their `of` sum to 100. */
export const rules: readonly Rule[] = [
  wrapper,
  delivery,
  memoryLock,
  secretMemory,
  coreDumps,
  enforcement,
  coverage,
  egress,
  references,
  verification,
];
