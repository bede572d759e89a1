import type { Check } from '../../contract.ts';
import { encryptedAddresses } from './encrypted-addresses.ts';
import { loginDescribed } from './login-described.ts';
import { nodeVersion } from './node-version.ts';
import { sections } from './sections.ts';
import { tokenInEnvironment } from './token-in-environment.ts';
import { tools } from './tools.ts';
import { unknownVariables } from './unknown-variables.ts';
import { values } from './values.ts';
import { verification } from './verification.ts';

export const configurationChecks: readonly Check[] = [
  ...[values, sections, unknownVariables, nodeVersion, verification],
  ...[encryptedAddresses, loginDescribed, tokenInEnvironment, tools],
];
