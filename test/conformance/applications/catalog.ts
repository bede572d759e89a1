import type { Application } from './application.ts';
import { dvc } from './dvc.ts';
import { pythonPrograms } from './python-programs.ts';

/** In the order of the table. */
export const applications: readonly Application[] = [...pythonPrograms, dvc];
