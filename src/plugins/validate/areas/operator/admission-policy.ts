import { isAtLeast } from '../../../../cluster/kube/server-version.ts';
import { type CheckFailure, skipped, verdict } from '../../check.ts';
import { operatorName } from '../../cluster/operator.ts';
import { getObject, serverVersionOf } from '../../cluster/read.ts';
import { clusterCheck } from '../../make-check.ts';
import { assertConfigured, webhooksOf } from './webhook.ts';

export const admissionPolicy = clusterCheck('SVC-OPERATOR-022', 'warning', {
  title: 'The admission policy is there, and its binding denies',
  cause:
    'The ValidatingAdmissionPolicy or its binding was deleted, or the chart was rendered for a Kubernetes before 1.30. Pods that another webhook changes after svc-operator can then start without the wrapper.',
  fix: 'Apply the chart again; without Helm, render it for the version of this cluster (--kube-version).',
  async run(context) {
    const [webhooks, version] = await Promise.all([webhooksOf(context), serverVersionOf(context)]);
    assertConfigured(webhooks);
    if (version !== undefined && !isAtLeast(version, 1, 30))
      return skipped('Kubernetes has such policies from 1.30 on');
    if (webhooks.every(({ failurePolicy }) => failurePolicy === 'Ignore'))
      return skipped('The webhook fails open: the chart has no policy then');
    const [policy, binding] = await Promise.all([
      getObject<Policy>(context, pathOf('validatingadmissionpolicies')),
      getObject<Binding>(context, pathOf('validatingadmissionpolicybindings')),
    ]);
    return verdict([...policyProblems(policy), ...bindingProblems(binding)].map(asFailure));
  },
});

const pathOf = (plural: string) => `/apis/admissionregistration.k8s.io/v1/${plural}/${operatorName}`;

interface Policy {
  readonly spec?: { readonly failurePolicy?: string; readonly validations?: readonly object[] };
}

interface Binding {
  readonly spec?: {
    readonly policyName?: string;
    readonly validationActions?: readonly string[];
    /** The chart's has neither: it is for all that the policy matches. */
    readonly matchResources?: object;
    readonly paramRef?: object;
  };
}

function policyProblems(policy: Policy | undefined): readonly string[] {
  if (policy === undefined) return ['There is no such ValidatingAdmissionPolicy.'];
  const { failurePolicy = 'Fail', validations = [] } = policy.spec ?? {};
  return [
    ...(failurePolicy === 'Fail' ? [] : [`The failurePolicy of the policy is ${failurePolicy}.`]),
    ...(validations.length > 0 ? [] : ['The policy validates nothing.']),
  ];
}

function bindingProblems(binding: Binding | undefined): readonly string[] {
  if (binding === undefined) return ['There is no such ValidatingAdmissionPolicyBinding.'];
  const { policyName, validationActions = [], matchResources, paramRef } = binding.spec ?? {};
  return [
    ...(policyName === operatorName ? [] : [`The binding is for the policy ${policyName}.`]),
    ...(validationActions.includes('Deny') ? [] : ['The binding does not deny.']),
    ...((matchResources ?? paramRef) ? ['The binding is for some pods only.'] : []),
  ];
}

const asFailure = (message: string): CheckFailure => ({ subject: operatorName, message });
