import { kubernetesAuth } from './auth-kubernetes.ts';
import type { AuthMethod } from './auth-method.ts';
import { tokenAuth } from './auth-token.ts';
import { tokenFileAuth } from './auth-token-file.ts';
import type { VaultAuth } from './config.ts';

export function authMethodFor(auth: VaultAuth): AuthMethod {
  switch (auth.method) {
    case 'kubernetes':
      return kubernetesAuth(auth);
    case 'token-file':
      return tokenFileAuth(auth.path);
    case 'token':
      return tokenAuth(auth.token);
  }
}
