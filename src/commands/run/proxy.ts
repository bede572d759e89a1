import { proxySettings } from '../../plugins/proxy/settings.ts';
import { componentCommand } from '../../runtime/cli/component-command.ts';

export default componentCommand({
  summary: 'Encrypt what S3 clients store, and decrypt what they read.',
  description:
    'Listens on loopback for any S3 client, encrypts objects with data keys that the key server wraps, and passes ' +
    'ciphertext on to the object store. Credentials for the store come from the AWS default provider chain.',
  examples: [
    '<%= config.bin %> run proxy --upstream https://s3.example.eu --vault-address https://vault.example.eu:8200',
    '<%= config.bin %> run proxy --workers 0 --strict --config svc.yaml',
  ],
  settings: proxySettings,
  load: async () => (await import('../../plugins/proxy/index.ts')).proxy,
});
