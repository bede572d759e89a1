import { KUBERNETES_LINKING, KUBERNETES_VERSION } from './kubernetes.ts';
import { ownGoTool } from './own-go-tool.ts';

/** kubelet, kube-proxy, kube-scheduler and a CONNECT proxy in one binary; shares most packages with `kubernetes`. */
export const kubernetesNode = ownGoTool('kubernetes-node', KUBERNETES_VERSION, KUBERNETES_LINKING);
