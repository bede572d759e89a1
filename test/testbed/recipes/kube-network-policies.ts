import { ownGoTool } from './own-go-tool.ts';

/** Enforces the network policies of a node's pods, beside any plugin that gives them addresses. */
export const kubeNetworkPolicies = ownGoTool(
  'kube-network-policies',
  '1.1.1',
  '-s -w',
  'sigs.k8s.io/kube-network-policies/cmd/kube-network-policies/standard',
);
