/** Who tries to read the token of a wrapper, as the driver of the suite names it, on a node whose agent enforces. */
export const tokenAttempts = {
  exec: 'cat by `kubectl exec`, on the path in the pod',
  child: 'cat by a child of the wrapper, as the application is one',
  registeredIntruder: 'a process that `kubectl exec` has brought in and that has registered with the agent',
  nsenter: 'cat after `nsenter` by root on the node',
  procRoot: 'root on the node, through `/proc/PID/root` of the wrapper',
  node: "root on the node, by the kubelet's path below `/var/lib/kubelet/pods`",
  data: 'the same, past the links that the kubelet swaps',
  secondMount: 'a second mount of the volume',
} as const;
