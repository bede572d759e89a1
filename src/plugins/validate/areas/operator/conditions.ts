import type { Condition } from '../../../../core/custom-resources/condition.ts';
import type { CheckFailure } from '../../contract.ts';

interface Conditioned {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
  readonly status: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
}

/** What the operator says against a custom resource of the user's; a warning where it has not looked at it yet. */
export function conditionFailures(
  { namespace, name, generation, status }: Conditioned,
  types: readonly string[],
): readonly CheckFailure[] {
  const subject = `${namespace}/${name}`;
  const { observedGeneration = 0, conditions = [] } = status;
  if (observedGeneration < generation || conditions.length === 0)
    return [
      { subject, message: 'The operator has not looked at it since it was changed.', level: 'warning' },
    ];
  // the first that does not hold explains the others
  const broken = types
    .flatMap((type) => conditions.filter((one) => one.type === type))
    .find(({ status: state }) => state !== 'True');
  return broken === undefined
    ? []
    : [{ subject, message: `It is not ${broken.type} (${broken.reason}): ${broken.message}` }];
}
