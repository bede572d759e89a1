"""Files by s3fs: written whole, in parts and appended to; ranges, listings, moves, copies, removal."""

import hashlib
import os

import s3fs

bucket = os.environ['BUCKET']
files = s3fs.S3FileSystem()


def content(name, length):
    return hashlib.shake_128(name.encode()).digest(length)


def put(name, length, block=5 * 2**20):
    body = content(name, length)
    with files.open(f'{bucket}/{name}', 'wb', block_size=block) as file:
        for at in range(0, length, 2**20):
            file.write(body[at:at + 2**20])
    return body


empty = put('tree/empty', 0)
small = put('tree/small äöü.bin', 100_000)
large = put('tree/deep/er/large.bin', 12 * 2**20 + 17)

for name, body in [('empty', empty), ('small äöü.bin', small), ('deep/er/large.bin', large)]:
    path = f'{bucket}/tree/{name}'
    assert files.size(path) == len(body), name
    assert files.cat_file(path) == body, name

with files.open(f'{bucket}/tree/deep/er/large.bin', 'rb', block_size=2**20) as file:
    file.seek(5 * 2**20 - 3)
    assert file.read(10) == large[5 * 2**20 - 3:5 * 2**20 + 7]
    file.seek(-5, 2)
    assert file.read() == large[-5:]
assert files.cat_ranges([f'{bucket}/tree/small äöü.bin'] * 2, [0, 99_990], [10, 100_000]) == [small[:10], small[-10:]]

with files.open(f'{bucket}/tree/small äöü.bin', 'ab') as file:
    file.write(b'and more')
assert files.cat_file(f'{bucket}/tree/small äöü.bin') == small + b'and more'
with files.open(f'{bucket}/tree/deep/er/large.bin', 'ab') as file:
    file.write(b'and more')
assert files.cat_file(f'{bucket}/tree/deep/er/large.bin', start=-20) == large[-12:] + b'and more'

files.mv(f'{bucket}/tree/small äöü.bin', f'{bucket}/moved/small.bin')
files.copy(f'{bucket}/tree/deep', f'{bucket}/copy/', recursive=True)
assert files.cat_file(f'{bucket}/moved/small.bin') == small + b'and more'
assert files.cat_file(f'{bucket}/copy/deep/er/large.bin') == large + b'and more'

files.invalidate_cache()
shown = {path.removeprefix(f'{bucket}/'): info['size'] for path, info in files.find(bucket, detail=True).items()}
assert shown == {
    'copy/deep/er/large.bin': len(large) + 8,
    'moved/small.bin': len(small) + 8,
    'tree/deep/er/large.bin': len(large) + 8,
    'tree/empty': 0,
}, shown
assert files.du(f'{bucket}/copy') == len(large) + 8
assert files.isdir(f'{bucket}/tree/deep') and not files.exists(f'{bucket}/tree/none')

files.put(__file__, f'{bucket}/put.py')
files.get(f'{bucket}/put.py', 'back.py')
with open(__file__, 'rb') as sent, open('back.py', 'rb') as back:
    assert sent.read() == back.read()
files.rm(f'{bucket}/tree', recursive=True)
files.invalidate_cache()
assert files.find(f'{bucket}/tree') == []
