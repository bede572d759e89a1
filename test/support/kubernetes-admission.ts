import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from './certificates.ts';

const group = 'apiserver.config.k8s.io/v1';

/**
 * The file that tells an API server who it is to each webhook.
 * @returns its path, for `--admission-control-config-file`
 */
export function writeAdmission(folder: string, clients: Readonly<Record<string, Identity>>): string {
  const put = (name: string, content: object) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
    return path;
  };
  const users = Object.entries(clients).map(([name, { cert, key }]) => ({
    name,
    user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) },
  }));
  const kubeConfigFile = put('webhooks.kubeconfig', { apiVersion: 'v1', kind: 'Config', users });
  const configuration = { apiVersion: group, kind: 'WebhookAdmissionConfiguration', kubeConfigFile };
  return put('admission.yaml', {
    ...{ apiVersion: group, kind: 'AdmissionConfiguration' },
    plugins: [{ name: 'MutatingAdmissionWebhook', configuration }],
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
