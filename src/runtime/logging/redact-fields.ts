import type { LogFields } from './logger.ts';
import { mask } from './secrets.ts';

const secretName = /(token|secret|password|passphrase|authorization|credentials?|cookie)$/i;

/** The fields with the texts under names such as `token` or `clientSecret` masked. */
export function redactFields(fields: LogFields): LogFields {
  const names = Object.keys(fields);
  if (!names.some((name) => secretName.test(name))) return fields;
  return Object.fromEntries(names.map((name) => [name, isSecret(name, fields[name]) ? mask : fields[name]]));
}

function isSecret(name: string, value: LogFields[string]): boolean {
  return secretName.test(name) && (typeof value === 'string' || Array.isArray(value));
}
