"""A Delta table: 16 commits at the same time, a merge, time travel, compaction, vacuum."""

import os
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

uri = f"s3://{os.environ['BUCKET']}/orders"
options = {
    'AWS_ENDPOINT_URL': os.environ['AWS_ENDPOINT_URL'],
    'AWS_ALLOW_HTTP': 'true',
    'aws_conditional_put': 'etag',
}


def rows(writer, count=1_000):
    return pa.table({
        'writer': pa.array([writer] * count, pa.int64()),
        'id': pa.array(range(count), pa.int64()),
        'state': pa.array(['new'] * count, pa.string()),
    })


def opened(version=None):
    return DeltaTable(uri, version=version, storage_options=options)


def read(version=None):
    return pa.table(opened(version).to_pyarrow_table())


write_deltalake(uri, rows(0), storage_options=options)

with ThreadPoolExecutor(16) as pool:
    list(pool.map(lambda writer: write_deltalake(uri, rows(writer), mode='append', storage_options=options),
                  range(1, 17)))
assert opened().version() == 16, opened().version()
assert sorted(set(read()['writer'].to_pylist())) == list(range(17))
assert read().num_rows == 17_000
assert read(0).num_rows == 1_000

opened().update(updates={'state': "'old'"}, predicate='writer = 3')
opened().delete('writer = 4')
table = read()
assert table.num_rows == 16_000
assert table['state'].to_pylist().count('old') == 1_000

opened().optimize.compact()
opened().create_checkpoint()
gone = opened().vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
assert len(gone) >= 16, gone
assert read().sort_by([('writer', 'ascending'), ('id', 'ascending')]).equals(
    table.sort_by([('writer', 'ascending'), ('id', 'ascending')]))
