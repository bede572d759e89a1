"""An Iceberg table with its catalogue in SQLite: appends, schema change, scan, overwrite, delete, time travel."""

import os

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import StringType

catalog = SqlCatalog('local', **{
    'uri': f"sqlite:///{os.environ['HOME']}/catalog.db",
    'warehouse': f"s3://{os.environ['BUCKET']}/warehouse",
    's3.endpoint': os.environ['AWS_ENDPOINT_URL'],
    's3.access-key-id': os.environ['AWS_ACCESS_KEY_ID'],
    's3.secret-access-key': os.environ['AWS_SECRET_ACCESS_KEY'],
    's3.region': os.environ['AWS_REGION'],
})


def rows(first, count=5_000):
    ids = range(first, first + count)
    return pa.table({'id': pa.array(ids, pa.int64()), 'amount': pa.array([n * 1.5 for n in ids], pa.float64())})


catalog.create_namespace('shop')
table = catalog.create_table('shop.orders', schema=rows(0).schema)
for batch in range(4):
    table.append(rows(batch * 5_000))
first = table.history()[0].snapshot_id

found = table.scan(row_filter='id >= 19990', selected_fields=('id',)).to_arrow()
assert sorted(found['id'].to_pylist()) == list(range(19_990, 20_000))
assert table.scan().to_arrow().num_rows == 20_000
assert table.scan(snapshot_id=first).to_arrow().num_rows == 5_000

with table.update_schema() as update:
    update.add_column('note', StringType())
table.delete('id < 1000')
table.overwrite(rows(0, 10).append_column('note', pa.array(['again'] * 10)), overwrite_filter='id < 2000')

again = catalog.load_table('shop.orders').scan().to_arrow()
assert again.num_rows == 18_010, again.num_rows
assert again['note'].to_pylist().count('again') == 10
assert len(catalog.load_table('shop.orders').inspect.files()) >= 4
catalog.purge_table('shop.orders')
