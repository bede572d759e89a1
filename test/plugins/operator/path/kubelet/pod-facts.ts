import type { Pod } from '../../../../../src/cluster/kube/pod.ts';
import type { Kubernetes } from '../../../../support/kubernetes.ts';
import type { Runc } from './container.ts';
import type { NodeVolume } from './node-volume.ts';
import type { NodeImage } from './oci-config.ts';
import type { Sandbox } from './sandbox.ts';

/** What is known of a pod before its containers are started. */
export interface PodFacts {
  readonly kube: Kubernetes;
  readonly pod: Pod;
  readonly runc: Runc;
  readonly images: ReadonlyMap<string, NodeImage>;
  /** By name. */
  readonly volumes: ReadonlyMap<string, NodeVolume>;
  readonly sandbox: Sandbox;
  /** Path of its /etc/hosts. */
  readonly hosts: string;
  /** Of the pod, below the root of the hierarchy. */
  readonly cgroup: string;
  /** A static binary. */
  readonly busybox: string;
}
