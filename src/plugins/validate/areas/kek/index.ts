import type { Check } from '../../contract.ts';
import { deletionForbidden } from './deletion.ts';
import { notDerived } from './derived.ts';
import { notExportable } from './exportable.ts';
import { noPlaintextBackup } from './plaintext-backup.ts';
import { rotated } from './rotation.ts';
import { keyType } from './type.ts';
import { oldVersionsReadable } from './versions.ts';

export const kekChecks: readonly Check[] = [
  ...[keyType, notExportable, noPlaintextBackup, rotated],
  ...[deletionForbidden, oldVersionsReadable, notDerived],
];
