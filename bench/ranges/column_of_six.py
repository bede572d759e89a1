"""A Parquet file of six columns: written in parts, or its footer and one column read. Numbers that do not compress."""

import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

rows = 1_000_000
scheme, _, host = os.environ['AWS_ENDPOINT_URL'].partition('://')
store = fs.S3FileSystem(endpoint_override=host, scheme=scheme, region=os.environ['AWS_REGION'])
path = f"{os.environ['BUCKET']}/six.parquet"


def column(number):
    return pa.array([((n + 1) * (number + 7919) * 2654435761 % 2**61) / 7 for n in range(rows)], pa.float64())


if sys.argv[1] == 'write':
    whole = pa.table({f'c{number}': column(number) for number in range(6)})
    pq.write_table(whole, path, filesystem=store, row_group_size=rows // 4, compression='none', use_dictionary=False)
elif sys.argv[1] == 'footer':
    assert pq.ParquetFile(path, filesystem=store).metadata.num_columns == 6
else:
    assert pq.read_table(path, filesystem=store, columns=['c3'])['c3'].combine_chunks().equals(column(3))
