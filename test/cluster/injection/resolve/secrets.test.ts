import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { configNamed, enough, errorsOf, mappings, planOf, podWith } from './support.ts';

const test = suite('paths and their variables');
const to = (field: string, variable: string) => ({ field, variable });
const database = { database: [{ path: 'secret/db', variables: { user: 'DB_USER' } }] };

test('groups belong to paths by position, also to those of a ServiceConfig', () => {
  const serviceConfigs = [configNamed('c', { secretPaths: ['secret/a', 'secret/b'] })];
  const pod = podWith({ ...enough, 'svc/secret-paths': 'x/a,x/b', 'svc/env-map': 'a=A;b=B' });
  assert.equal(planOf(pod).secrets, [
    { path: 'x/a', mappings: [to('a', 'A')] },
    { path: 'x/b', mappings: [to('b', 'B')] },
  ]);
  const { 'svc/secret-paths': _, ...rest } = enough;
  assert.equal(planOf(podWith({ ...rest, 'svc/env-map': ';b=B' }), { serviceConfigs }).secrets, [
    { path: 'secret/a', mappings: [] },
    { path: 'secret/b', mappings: [to('b', 'B')] },
  ]);
});

test('more groups than paths of a ServiceConfig', () => {
  const { 'svc/secret-paths': _, ...rest } = enough;
  const serviceConfigs = [configNamed('c', { secretPaths: ['secret/a'] })];
  assert.equal(errorsOf(podWith({ ...rest, 'svc/env-map': ';b=B' }), { serviceConfigs }), [
    'svc/env-map: has 2 groups, should have at most one per path, and ServiceConfig c, secretPaths names 1',
  ]);
});

test('a ServiceConfig maps by path; what it says of paths that an annotation leaves out is left out', () => {
  const serviceConfigs = [
    configNamed('c', {
      secretPaths: ['secret/b', 'secret/shop'],
      envMap: [
        { path: 'secret/shop', variables: { s: 'S' } },
        { path: 'secret/b', variables: { b: 'B' } },
      ],
    }),
  ];
  assert.equal(planOf(podWith(enough), { serviceConfigs }).secrets, [
    { path: 'secret/shop', mappings: [to('s', 'S')] },
  ]);
});

test('a ServiceConfig that maps a path which it does not list is wrong', () => {
  const { 'svc/secret-paths': _, ...rest } = enough;
  const envMap = [{ path: 'secret/x', variables: { a: 'A' } }];
  const serviceConfigs = [configNamed('c', { secretPaths: ['secret/a'], envMap })];
  assert.equal(errorsOf(podWith(rest), { serviceConfigs }), [
    'ServiceConfig c, envMap: secret/x should be one of secretPaths',
  ]);
});

test('SecretMappings come after the paths, and suffice alone', () => {
  const secretMappings = mappings(database);
  const both = podWith({ ...enough, 'svc/secret-mapping': 'database,database' });
  assert.equal(planOf(both, { secretMappings }).secrets, [
    { path: 'secret/shop', mappings: [] },
    { path: 'secret/db', mappings: [to('user', 'DB_USER')] },
  ]);
  const { 'svc/secret-paths': _, ...rest } = enough;
  const alone = podWith({ ...rest, 'svc/secret-mapping': 'database' });
  assert.is(planOf(alone, { secretMappings }).secrets.length, 1);
});

test('a SecretMapping that is missing is said with the one that may be meant', () => {
  const pod = podWith({ ...enough, 'svc/secret-mapping': 'databse' });
  assert.equal(errorsOf(pod, { secretMappings: mappings(database) }), [
    'svc/secret-mapping: namespace team has no SecretMapping databse (did you mean database?)',
  ]);
  const serviceConfigs = [configNamed('c', { secretMappings: ['none'] })];
  assert.equal(errorsOf(podWith(enough), { serviceConfigs }), [
    'ServiceConfig c, secretMappings: namespace team has no SecretMapping none',
  ]);
});

test('sources may agree on a path', () => {
  const secretMappings = mappings({ ...database, again: database.database });
  const pod = podWith({
    ...{ ...enough, 'svc/secret-paths': 'secret/db', 'svc/env-map': 'user=DB_USER' },
    'svc/secret-mapping': 'database,again',
  });
  assert.equal(planOf(pod, { secretMappings }).secrets, [
    { path: 'secret/db', mappings: [to('user', 'DB_USER')] },
  ]);
});

test('a path with other variables is an error', () => {
  const pod = podWith({ ...enough, 'svc/secret-paths': 'secret/db', 'svc/secret-mapping': 'database' });
  assert.equal(errorsOf(pod, { secretMappings: mappings(database) }), [
    'svc/secret-mapping (SecretMapping database): names secret/db, which svc/secret-paths names with other variables; they should agree',
  ]);
});

test('a variable of two sources is an error', () => {
  const pod = podWith({ ...enough, 'svc/env-map': 'u=DB_USER', 'svc/secret-mapping': 'database' });
  assert.equal(errorsOf(pod, { secretMappings: mappings(database) }), [
    'svc/secret-mapping (SecretMapping database): DB_USER is given to a field of secret/db, and by svc/secret-paths to one of secret/shop',
  ]);
});

test('a variable twice in one SecretMapping is an error', () => {
  const secretMappings = mappings({ twice: [{ path: 'secret/db', variables: { a: 'A', b: 'A' } }] });
  assert.equal(errorsOf(podWith({ ...enough, 'svc/secret-mapping': 'twice' }), { secretMappings }), [
    'svc/secret-mapping (SecretMapping twice): A is given to more than one field of secret/db',
  ]);
});

test('a wrong SecretMapping is said with its name', () => {
  const secretMappings = mappings({ bad: [{ path: 'db', variables: { a: 'A B' } }] });
  assert.equal(errorsOf(podWith({ ...enough, 'svc/secret-mapping': 'bad' }), { secretMappings }), [
    'svc/secret-mapping (SecretMapping bad), secrets[0].path: should be a KV path such as secret/app, without commas and without blanks at its ends, is "db"',
    'svc/secret-mapping (SecretMapping bad), secrets[0].variables.a: should be the name of a variable of letters, digits, _, - and ., is "A B"',
  ]);
});

test.run();
