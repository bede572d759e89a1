import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { destinationOf, serviceOfHost } from '../../../src/cluster/egress/address.ts';

const test = suite('destinations');

const urls: Readonly<Record<string, string | undefined>> = {
  'https://vault.example.com': 'vault.example.com 443',
  'https://Vault.Example.com.:8200/v1': 'vault.example.com 8200',
  'http://127.0.0.1': '127.0.0.1 80',
  'https://[2001:DB8::1]:8200': '[2001:db8::1] 8200',
  'https://vault.example.com:443': 'vault.example.com 443',
  'ftp://vault.example.com': undefined,
  'vault.example.com:8200': undefined,
  '': undefined,
};
for (const [url, to] of Object.entries(urls)) {
  test(`${url === '' ? 'nothing' : url} leads to ${to ?? 'nowhere'}`, () => {
    const found = destinationOf(url);
    assert.is(found && `${found.host} ${found.port}`, to);
  });
}

const hosts: Readonly<Record<string, string | undefined>> = {
  vault: 'shop/vault',
  'vault.vault': 'vault/vault',
  'vault.vault.svc': 'vault/vault for certain',
  'vault.vault.svc.cluster.local': 'vault/vault for certain',
  'vault-0.internal.vault.svc': 'vault/internal for certain',
  'vault-0.internal.vault.svc.cluster.local': 'vault/internal for certain',
  'a.b.c.d.svc': undefined,
  'vault.example.com': undefined,
  'vault.vault.svc.cluster.local.example.com': undefined,
  'svc.cluster.local': undefined,
  'x.svc': 'svc/x',
  '10.0.0.1': undefined,
  '[2001:db8::1]': undefined,
  'a..b': undefined,
  '-a.b': undefined,
  '': undefined,
};
for (const [host, service] of Object.entries(hosts)) {
  test(`${host === '' ? 'nothing' : host} is ${service ?? 'no Service'}`, () => {
    const found = serviceOfHost(host, 'shop');
    const text = found && `${found.namespace}/${found.name}${found.certain ? ' for certain' : ''}`;
    assert.is(text, service);
  });
}

test('knows another domain of the cluster', () => {
  assert.equal(serviceOfHost('vault.vault.svc.corp.example', 'shop', 'corp.example'), {
    ...{ namespace: 'vault', name: 'vault', certain: true },
  });
  assert.is(serviceOfHost('vault.vault.svc.cluster.local', 'shop', 'corp.example'), undefined);
});

test('never throws, and names only what can be a Service', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.domain(), fc.webUrl()), (text) => {
      destinationOf(text);
      const found = serviceOfHost(text, 'shop');
      if (found !== undefined) assert.match(`${found.namespace}/${found.name}`, /^[a-z0-9-]+\/[a-z0-9-]+$/);
    }),
  );
});

test.run();
