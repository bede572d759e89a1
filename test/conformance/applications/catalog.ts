import type { Application } from './application.ts';
import { awsCli } from './aws-cli.ts';
import { dockerRegistry } from './docker-registry.ts';
import { dvc } from './dvc.ts';
import { hadoop } from './hadoop.ts';
import { litestream } from './litestream.ts';
import { openTofu } from './opentofu.ts';
import { pgBackRest } from './pgbackrest.ts';
import { pythonPrograms } from './python-programs.ts';
import { rclone } from './rclone.ts';
import { restic } from './restic.ts';
import { thanos } from './thanos.ts';

/** In the order of the table. */
export const applications: readonly Application[] = [
  ...pythonPrograms,
  ...[dvc, restic, ...rclone, awsCli, dockerRegistry, litestream, openTofu, thanos, pgBackRest, hadoop],
];
