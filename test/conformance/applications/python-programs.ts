import type { Application } from './application.ts';
import { pythonApplication } from './programs.ts';

export const pythonPrograms: readonly Application[] = [
  pythonApplication({
    name: 'pyarrow',
    title: 'PyArrow (Parquet)',
    distribution: 'pyarrow',
    program: 'parquet_by_pyarrow.py',
  }),
  pythonApplication({
    name: 'polars',
    title: 'Polars (Parquet)',
    distribution: 'polars',
    program: 'parquet_by_polars.py',
  }),
  pythonApplication({
    name: 'delta',
    title: 'Delta Lake (deltalake)',
    distribution: 'deltalake',
    program: 'delta_table.py',
  }),
  pythonApplication({
    name: 'iceberg',
    title: 'Iceberg (PyIceberg)',
    distribution: 'pyiceberg',
    program: 'iceberg_table.py',
  }),
  pythonApplication({ name: 's3fs', title: 's3fs', distribution: 's3fs', program: 'files_by_s3fs.py' }),
];
