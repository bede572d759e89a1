import { protectedLabel } from '../../../../../core/kubernetes/labels.ts';
import { probeProgram } from './program.ts';

export interface Target {
  readonly host: string;
  readonly port: number;
}

/**
 * A pod that tries one connection.
 * @param covered as a protected pod it is under the egress policy, and the webhook leaves it alone
 */
export function probePod(image: string, { host, port }: Target, covered: boolean): object {
  const labels = { 'app.kubernetes.io/name': 'svc-validate', ...(covered && { [protectedLabel]: 'true' }) };
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { generateName: 'svc-validate-', labels, annotations: { 'svc/inject': 'false' } },
    spec: {
      ...{ restartPolicy: 'Never', activeDeadlineSeconds: 120, terminationGracePeriodSeconds: 0 },
      ...{ automountServiceAccountToken: false, enableServiceLinks: false },
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      containers: [
        {
          ...{ name: 'probe', image, command: ['node', '-e', probeProgram, host, String(port)] },
          resources: { requests: modest, limits: modest },
          securityContext: {
            ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  };
}

const modest = { cpu: '100m', memory: '128Mi' };
