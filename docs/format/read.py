#!/usr/bin/env python3
"""Reads objects that `svc run proxy` has encrypted, without any code of svc: written from docs/FORMAT.md alone.

  read.py PATH… --to DIR [--keys transit-key.json…]

PATH is a JSON file of stored objects, or a folder in which such files lie ("Stored objects as files" in FORMAT.md). Keys
are unwrapped by the key server at VAULT_ADDR with VAULT_TOKEN, or by exported transit keys. Needs Python 3.9 and the
package `cryptography`. Ends with 0: all were read; 1: some were refused; 2: called wrongly, or the key server failed.
"""
import argparse, base64, hashlib, hmac, json, os, re, sys, tempfile, urllib.error, urllib.parse, urllib.request, zlib
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE, OVERHEAD = 12, 28
WRAPPED = re.compile(r'vault:v([1-9][0-9]{0,9}):[A-Za-z0-9+/]+={0,2}')
ID = re.compile(r'[A-Za-z0-9_-]{22}')
MOST_PARTS, LONGEST_MANIFEST = 10_000, 8 * 1024 * 1024
REQUIRED = ['encrypted', 'wrapped-dek', 'algorithm', 'key-name', 'key-version']
KNOWN = REQUIRED + ['binding', 'empty-seal', 'checksum']
CHECKSUM = re.compile(r'([a-z0-9]{1,20})\.(?:full|composite)(?:\.([A-Za-z0-9_-]{1,200}))?')
SUM, COMPOSITE = re.compile(r'[A-Za-z0-9_-]{1,200}'), 0x80
ALGORITHMS = 'crc32 crc32c crc64nvme sha1 sha256 sha512 md5 xxhash64 xxhash3 xxhash128'.split()

class Refused(Exception):
    """The object is not what svc wrote: one of the reasons in FORMAT.md, and what is wrong."""
    def __init__(self, reason, detail):
        super().__init__(f'{reason}: {detail}')

class Failed(Exception):
    """Nothing can be said about any object."""

def json_text(value): return json.dumps(value, ensure_ascii=False, separators=(',', ':'))
def is_whole(value, least, most): return type(value) is int and least <= value <= most
def matches(pattern, value): return isinstance(value, str) and pattern.fullmatch(value)
def is_wrapped(value): return matches(WRAPPED, value) and len(value) < 1024

def from_json(text, what):
    try: return json.loads(text)
    except (ValueError, RecursionError): raise Refused('malformed-metadata', f'{what} is not JSON')

def from_base64(text, length, reason='malformed-metadata'):
    try: data = base64.b64decode(text if isinstance(text, str) else '*', validate=True)
    except ValueError: raise Refused(reason, 'no base64')
    if len(data) != length: raise Refused(reason, f'{len(data)} bytes where {length} belong')
    return data

def is_list_head(value):
    """What part lists and pointers have in common."""
    return (isinstance(value, dict) and is_whole(value.get('v'), 1, 1) and is_wrapped(value.get('seal'))
            and matches(ID, value.get('manifest')))

class Crc32:
    def __init__(self, data=b''): self.value = zlib.crc32(data)
    def update(self, data): self.value = zlib.crc32(data, self.value)
    def digest(self): return self.value.to_bytes(4, 'big')

HASHES = {1: Crc32, 4: hashlib.sha1, 5: hashlib.sha256, 6: hashlib.sha512, 7: hashlib.md5}

def compared(pieces, key, bound_to, sealed):
    """Passes the plaintext of each body on; raises Refused at the end of those that have not the checksum kept."""
    if sealed is None: return (yield from pieces)
    purpose = b'svc/whole-checksum/1'
    derived = hmac.new(key, purpose + b'\x01', hashlib.sha256).digest()
    try:
        data = base64.urlsafe_b64decode(sealed + '=' * (-len(sealed) % 4))
        plain = AESGCM(derived).decrypt(data[:NONCE], data[NONCE:], purpose + f'\n{bound_to}\n'.encode())
    except (InvalidTag, ValueError): raise Refused('record-forged', 'the checksum that is kept with the object')
    number, digest = (plain or b'\0')[0], plain[1:]
    create = HASHES.get(number & ~COMPOSITE)
    if create is None: return (yield from pieces)  # none that the standard library of Python can calculate
    running = create()
    for piece in pieces:
        running.update(create(piece).digest() if number & COMPOSITE else piece)
        yield piece
    if running.digest() != digest: raise Refused('wrong-checksum', 'the plaintext has another checksum')

class ExportedKeys:
    """Transit keys in the clear, as GET transit/export/encryption-key/<name> gives them."""
    def __init__(self, paths):
        self.keys = {}
        for path in paths:
            with open(path, encoding='utf-8') as file: data = json.load(file)['data']
            if data.get('type') != 'aes256-gcm96': raise Failed(f'{path}: not a key of type aes256-gcm96')
            self.keys[data['name']] = {int(n): base64.b64decode(key) for n, key in data['keys'].items()}

    def unwrap(self, key_name, wrapped, binding):
        if key_name not in self.keys: raise Refused('foreign-key', f'transit key {key_name!r} is not at hand')
        _, version, payload = wrapped.split(':')
        key = self.keys[key_name].get(int(version[1:]))
        try:
            data = base64.b64decode(payload, validate=True)
            if key is None or len(data) < OVERHEAD: raise InvalidTag
            return AESGCM(key).decrypt(data[:NONCE], data[NONCE:], binding and binding.encode())
        except (InvalidTag, ValueError): raise Refused('key-refused', f'not by {version} of {key_name}, or not for this')

class KeyServer:
    """Transit of OpenBao or Vault."""
    def __init__(self, address, token, mount, key_name, namespace):
        self.key_name, name = key_name, urllib.parse.quote(key_name, safe='')
        self.url = f'{address.rstrip("/")}/v1/{mount}/decrypt/{name}'
        self.headers = {'X-Vault-Token': token, 'Content-Type': 'application/json'}
        if namespace: self.headers['X-Vault-Namespace'] = namespace

    def unwrap(self, key_name, wrapped, binding):
        if key_name != self.key_name: raise Refused('foreign-key', f'transit key {key_name!r} is not used')
        body = {'ciphertext': wrapped}
        if binding is not None: body['associated_data'] = base64.b64encode(binding.encode()).decode()
        request = urllib.request.Request(self.url, json.dumps(body).encode(), self.headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer: data = json.load(answer)['data']
            return base64.b64decode(data['plaintext'])
        except urllib.error.HTTPError as error:
            said = error.read(2000).decode(errors='replace').strip()
            if error.code == 400: raise Refused('key-refused', said)
            raise Failed(f'the key server answered {error.code}: {said}')
        except (OSError, ValueError, KeyError) as error: raise Failed(f'the key server: {error}')

class Stored:
    """One stored object; its body is read as it is needed."""
    def __init__(self, value, folder):
        self.bucket, self.key, self.headers = value['bucket'], value['key'], {}
        for name, text in value.get('metadata', {}).items():
            name = name.lower().removeprefix('x-amz-meta-')
            self.headers[name] = None if name in self.headers else text  # twice: no text
        self.path = os.path.join(folder, value['file']) if 'file' in value else None
        self.bytes = None if self.path else base64.b64decode(value['body'])
        self.size = os.path.getsize(self.path) if self.path else len(self.bytes)

    def read(self, offset, length):
        if not self.path: return self.bytes[offset:offset + length]
        with open(self.path, 'rb') as file:
            file.seek(offset)
            return file.read(length)

def load(paths):
    store = {}
    for path in paths:
        found = [os.path.join(at, name) for at, _, names in os.walk(path) for name in names] or [path]
        for file in sorted(name for name in found if name.endswith('.json')):
            with open(file, encoding='utf-8') as opened: value = json.load(opened)
            for one in value.get('objects', [value]):
                stored = Stored(one, os.path.dirname(file))
                store[stored.bucket, stored.key] = stored
    return store

class Reader:
    def __init__(self, store, keys, options):
        self.store, self.keys, self.options = store, keys, options

    def plaintext(self, stored):
        """Yields the plaintext, each piece after its tag has verified. Raises Refused."""
        headers = {name: stored.headers[f'svc-{name}'] for name in KNOWN if f'svc-{name}' in stored.headers}
        if not headers and self.options.encrypted_only: raise Refused('unencrypted', 'no svc metadata')
        if not headers: return (yield stored.read(0, stored.size))
        missing = [name for name in REQUIRED if not isinstance(headers.get(name), str)]
        if missing: raise Refused('partial-metadata', f'{", ".join(missing)} missing')
        if headers['encrypted'] != 'true': raise Refused('malformed-metadata', 'encrypted')
        if headers['algorithm'] != 'AES-256-GCM': raise Refused('malformed-metadata', 'algorithm')
        form, keys = self.wrapped_keys(headers['wrapped-dek'])
        version = WRAPPED.fullmatch(keys if form == 'single' else keys['seal']).group(1)
        if headers['key-version'] != version: raise Refused('malformed-metadata', 'key-version')
        names = {'key': [None, stored.key], 'bucket-key': [stored.bucket, stored.key]}
        bound_to = names.get(headers['binding']) if 'binding' in headers else []
        if bound_to is None: raise Refused('malformed-metadata', 'binding')
        unwrap = lambda wrapped, *purpose: self.unwrap(headers['key-name'], wrapped, bound_to, purpose)
        seal = from_base64(headers['empty-seal'], OVERHEAD) if 'empty-seal' in headers else None
        if seal and form != 'single': raise Refused('malformed-metadata', 'empty-seal beside a part list')
        if seal and stored.size != 0: raise Refused('wrong-size', 'a body beside an empty-seal')
        sealed = self.kept_checksum(headers['checksum'], form) if 'checksum' in headers else None
        if form == 'single':
            if not seal and stored.size < OVERHEAD: raise Refused('wrong-size', 'shorter than nonce and tag')
            dek = unwrap(keys, 'object')
            plain = self.open(dek, seal or stored.read(0, stored.size))
            return (yield from compared([plain], dek, len(plain), sealed))
        if form == 'pointer': keys = self.manifest(stored, keys)
        yield from self.parts(stored, keys, unwrap)

    @staticmethod
    def kept_checksum(text, form):
        kept = matches(CHECKSUM, text)
        if kept and kept[1] not in ALGORITHMS: return None
        if not kept or (kept[2] is None) == (form == 'single'): raise Refused('malformed-metadata', 'checksum')
        return kept[2]

    def wrapped_keys(self, text):
        if WRAPPED.fullmatch(text): return 'single', text
        value = from_json(text, 'wrapped-dek')
        if isinstance(value, dict) and 'parts' in value: return 'inline', self.part_list(value)
        if not is_list_head(value): raise Refused('malformed-metadata', 'wrapped-dek')
        return 'pointer', value

    @staticmethod
    def part_list(value):
        if not (is_list_head(value) and isinstance(value.get('mac'), str) and matches(SUM, value.get('sum', '-'))
                and isinstance(value.get('parts'), list) and 1 <= len(value['parts']) <= MOST_PARTS):
            raise Refused('malformed-metadata', 'the part list')
        previous = 0
        for part in value['parts']:
            if not (isinstance(part, dict) and is_whole(part.get('n'), previous + 1, MOST_PARTS)
                    and is_wrapped(part.get('dek')) and is_whole(part.get('size'), 0, 2 ** 53 - 1)):
                raise Refused('malformed-metadata', 'an entry of the part list')
            from_base64(part.get('nonce'), NONCE)
            previous = part['n']
        return value

    def manifest(self, stored, pointer):
        names = json_text([stored.bucket, stored.key]).encode()
        key = f'{self.options.reserved_prefix}manifests/{hashlib.sha256(names).hexdigest()}/{pointer["manifest"]}'
        found = self.store.get((self.options.state_bucket or stored.bucket, key))
        if found is None: raise Refused('manifest-missing', key)
        if found.size > LONGEST_MANIFEST: raise Refused('malformed-metadata', 'the manifest is too long')
        value = from_json(found.read(0, found.size), 'the manifest')
        if not isinstance(value, dict) or not is_whole(value.get('v'), 1, 1):
            raise Refused('malformed-metadata', 'the manifest')
        parts = self.part_list(value.get('list'))
        if (value.get('bucket'), value.get('key')) != (stored.bucket, stored.key):
            raise Refused('manifest-forged', 'the manifest is of another object')
        if (parts['manifest'], parts['seal']) != (pointer['manifest'], pointer['seal']):
            raise Refused('manifest-forged', 'the manifest is of another upload')
        return parts

    def unwrap(self, key_name, wrapped, bound_to, purpose):
        binding = json_text(['svc', 1, *bound_to, *purpose]) if bound_to else None
        key = self.keys.unwrap(key_name, wrapped, binding)
        if len(key) != 32: raise Refused('malformed-metadata', 'a key is not 32 bytes long')
        return key

    def parts(self, stored, value, unwrap):
        if sum(part['size'] + OVERHEAD for part in value['parts']) != stored.size:
            raise Refused('wrong-size', 'not the length that the part list gives')
        lines = ['svc/1', value['manifest'], str(len(value['parts']))]
        lines += [f'{part["n"]} {part["size"]} {part["nonce"]} {part["dek"]}' for part in value['parts']]
        seal_key = unwrap(value['seal'], 'seal', value['manifest'])
        mac = hmac.new(seal_key, ('\n'.join(lines) + '\n').encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(mac, from_base64(value['mac'], len(mac), 'manifest-forged')):
            raise Refused('manifest-forged', 'the seal of the part list')
        yield from compared(self.bodies(stored, value, unwrap), seal_key, value['mac'], value.get('sum'))

    def bodies(self, stored, value, unwrap):
        offset = 0
        for part in value['parts']:
            body = stored.read(offset, part['size'] + OVERHEAD)
            if body[:NONCE] != base64.b64decode(part['nonce']):
                raise Refused('authentication-failed', f'part {part["n"]} has another nonce')
            yield self.open(unwrap(part['dek'], 'part', value['manifest'], part['n']), body)
            offset += len(body)

    @staticmethod
    def open(dek, body):
        try: return AESGCM(dek).decrypt(body[:NONCE], body[NONCE:], None)
        except InvalidTag: raise Refused('authentication-failed', 'the tag does not verify')

def place(folder, stored):
    """Where the plaintext goes: each segment of the names as a plain file name, so that nothing leads out of the folder."""
    safe = " !#$&'()+,;=@[]{}~^`-_."
    names = [urllib.parse.quote(name, safe=safe) for name in [stored.bucket, *stored.key.split('/')]]
    for index, name in enumerate(names):
        if name.strip('.') == '': names[index] = name.replace('.', '%2E') or '%'
        if len(name) > 255: names[index] = '%sha256-' + hashlib.sha256(name.encode()).hexdigest()
    return os.path.join(folder, *names)

def write(path, pieces):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix='.svc-part-')
    try:
        with os.fdopen(handle, 'wb') as file:
            for piece in pieces: file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary): os.unlink(temporary)

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('paths', nargs='+', metavar='PATH')
    parser.add_argument('--to', required=True, metavar='DIR')
    parser.add_argument('--keys', action='append', default=[], metavar='FILE', help='an exported transit key')
    parser.add_argument('--mount', default='transit', help='of the transit engine')
    parser.add_argument('--transit-key', default='svc', help='at the key server; objects of another are refused')
    parser.add_argument('--reserved-prefix', default='.svc/')
    parser.add_argument('--state-bucket')
    parser.add_argument('--encrypted-only', action='store_true', help='refuse objects without svc metadata')
    options, env = parser.parse_args(), os.environ
    try:
        keys = ExportedKeys(options.keys) if options.keys else KeyServer(
            env['VAULT_ADDR'], env['VAULT_TOKEN'], options.mount, options.transit_key, env.get('VAULT_NAMESPACE'))
        store = load(options.paths)
        reader, refused = Reader(store, keys, options), 0
        for (_, key), stored in store.items():
            if key.startswith(options.reserved_prefix): continue
            try: write(place(options.to, stored), reader.plaintext(stored))
            except (Refused, OSError, ValueError) as error:  # the others: no file can have its name
                refused += 1
                print(f'{stored.bucket}/{key!r}: {error}', file=sys.stderr)
    except (Failed, KeyError, ValueError, OSError) as error:
        sys.exit(print(f'read.py: {type(error).__name__}: {error}', file=sys.stderr) or 2)
    sys.exit(1 if refused else 0)

if __name__ == '__main__': main()
