import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inherited, type Launch, withStrings } from '../../../../src/plugins/wrapper/replace-process.ts';
import type { Region } from '../../../../src/runtime/native/memory.ts';
import { createSecretMemory, type SecretMemory } from '../../../../src/runtime/native/secret-memory.ts';

/** Secret memory that remembers what it gave out. */
function watched(): SecretMemory & { readonly regions: Region[] } {
  const memory = createSecretMemory({ requireMemfdSecret: false, requireLock: false });
  const regions: Region[] = [];
  return {
    regions,
    allocate(length) {
      const region = memory.allocate(length);
      regions.push(region);
      return region;
    },
  };
}

const released = ({ regions }: { regions: Region[] }) =>
  regions.map((region) => {
    try {
      return region.bytes.length < 0;
    } catch {
      return true;
    }
  });

function launch(memory: SecretMemory, variable = 'KEY=VALUE'): Launch {
  return { file: 'tool', args: ['one'], env: [Buffer.from(variable)], memory };
}

const launches = suite('launch');

launches('arguments begin with the name as it was given, and all is wiped afterwards', () => {
  const memory = watched();
  const text = withStrings(launch(memory), ({ argv, env }) => {
    const region = memory.regions[0] as Region;
    assert.is(argv, region.address);
    assert.ok(env > argv && env < argv + BigInt(region.length));
    return region.bytes.toString('latin1');
  });
  assert.match(text, 'tool\0one\0');
  assert.match(text, 'KEY=VALUE\0');
  assert.equal(released(memory), [true]);
});

launches('is wiped also when the start fails, or the strings are refused', () => {
  const memory = watched();
  const fail = () => {
    throw new Error('no start');
  };
  assert.throws(() => withStrings(launch(memory), fail), 'no start');
  assert.throws(() => withStrings(launch(memory, 'KEY=\0'), fail), 'NUL');
  assert.equal(released(memory), [true, true]);
});

launches('hands over the standard descriptors, and one more if there is one', () => {
  const memory = watched();
  assert.equal(inherited(launch(memory)), [0, 1, 2]);
  assert.equal(inherited({ ...launch(memory), descriptor: 17 }), [0, 1, 2, 17]);
});

launches.run();
