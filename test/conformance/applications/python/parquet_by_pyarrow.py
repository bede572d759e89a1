"""Parquet in one PUT and in parts; then the footer, one column, some row groups, everything."""

import os

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import fs

bucket = os.environ['BUCKET']
scheme, _, host = os.environ['AWS_ENDPOINT_URL'].partition('://')
settings = {'endpoint_override': host, 'scheme': scheme, 'region': os.environ['AWS_REGION']}
store = fs.S3FileSystem(**settings)
# the others begin an upload in parts for each file, whatever its size
one_put_store = fs.S3FileSystem(**settings, allow_delayed_open=True)


def table(rows):
    return pa.table({
        'id': pa.array(range(rows), pa.int64()),
        'amount': pa.array([(n * 7919) % 100_003 / 7 for n in range(rows)], pa.float64()),
        'name': pa.array([f'customer number {n * 2654435761 % 2**32:032b}' for n in range(rows)]),
    })


def write(name, rows, group, filesystem):
    whole = table(rows)
    pq.write_table(whole, f'{bucket}/{name}', filesystem=filesystem, row_group_size=group, compression='none',
                   use_dictionary=False)
    return whole


def check(name, whole, groups):
    path = f'{bucket}/{name}'
    metadata = pq.read_metadata(path, filesystem=store)
    assert (metadata.num_rows, metadata.num_row_groups) == (whole.num_rows, groups), metadata
    column = pq.read_table(path, columns=['amount'], filesystem=store)
    assert column.equals(whole.select(['amount']))
    with store.open_input_file(path) as source:
        file = pq.ParquetFile(source)
        two = file.read_row_groups([1, groups - 1])
    size = metadata.row_group(0).num_rows
    last = whole.slice((groups - 1) * size)
    assert two.equals(pa.concat_tables([whole.slice(size, size), last]))
    assert pq.read_table(path, filesystem=store).equals(whole)


one_put = write('small.parquet', 40_000, 10_000, one_put_store)
check('small.parquet', one_put, 4)
in_parts = write('large.parquet', 400_000, 50_000, store)
check('large.parquet', in_parts, 8)

ds.write_dataset(one_put, f'{bucket}/by-bucket', filesystem=store, format='parquet',
                 max_rows_per_file=10_000, max_rows_per_group=10_000)
found = ds.dataset(f'{bucket}/by-bucket', filesystem=store, format='parquet')
assert len(found.files) == 4, found.files
some = found.to_table(filter=pc.field('id') >= 35_000, columns=['id'])
assert some.num_rows == 5_000
