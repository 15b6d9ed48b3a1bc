import { describe, expect, test } from 'vitest'
import { cpuMsOf } from '../../test/cpu-time.ts'
import { findSecrets, isCredentialFile, maskSecretFields, redactSecrets } from './secrets.ts'

/** Built from parts, so that no scanner takes this file for a leak. */
const KEY = `AKIA${'ABCDEFGH12345678'}`
const LONG = 'a1B2'.repeat(9)

const LEAKS: readonly (readonly [what: string, text: string])[] = [
  ['an AWS access key', `id = ${KEY}`],
  ['a private key', '-----BEGIN RSA PRIVATE KEY-----'],
  ['a private key', '-----BEGIN PRIVATE KEY-----'],
  ['a GitHub token', `ghp_${LONG}`],
  ['a GitHub token', `github_pat_${LONG}${LONG}`],
  ['a Slack token', `xoxb-${LONG}`],
  ['a Google API key', `AIza${LONG.slice(1)}`],
  ['an API key', `sk_live_${LONG}`],
  ['an API key', `sk-ant-${LONG}`],
  ['an npm token', `npm_${LONG}`],
  ['a bearer token', `Authorization: Bearer ${LONG}`],
  ['an authorization header', `authorization: Basic ${LONG}==`],
  ['a password or key', 'password = "hunter2hunter2"'],
  ['a password or key', '"api_key": "0123456789abcdef"'],
  ['a password or key', "const clientSecret='s3cr3tvalue'"],
  ['a password or key', 'DB_PASSWORD=hunter2hunter2'],
  ['a password or key', 'export API_TOKEN=0123456789abcdef'],
  ['a password or key', 'aws_secret_access_key = wJalrXUtnFEMI0K7MDENG'],
  ['a password or key', 'password: hunter2hunter2'],
  ['a password or key', '  api_key: 0123456789abcdef'],
  ['an API key', `sk-${LONG}`],
  ['a GitLab token', `glpat-${LONG}`],
  ['a JSON web token', `eyJ${LONG}.eyJ${LONG}.${LONG}`],
  ['an authorization header', `Authorization: token ${LONG}`],
  ['a password in a URL', 'postgres://admin:hunter2@db.internal/x'],
]

/** Kinds that examples and tests have too. */
const DOUBTFUL = new Set([
  'a JSON web token',
  'a bearer token',
  'an authorization header',
  'a password or key',
  'a password in a URL',
])

test.each(LEAKS)('finds %s in %j', (what, text) => {
  const isDoubtful = DOUBTFUL.has(what)
  expect(findSecrets(text)).toEqual([{ what, line: 1, isDoubtful }])
})

test.each([
  'AKIA is the beginning of a key',
  `X${KEY}9`,
  'password = "example-password"',
  'password: "<your password>"',
  'API_KEY="your-api-key"',
  `token = "\${TOKEN}"`,
  'password = "{{ password }}"',
  'password: "short"',
  'const password = process.env.PASSWORD',
  'secret=$(cat file)',
  'if (token === "identifier") {}',
  'token = tokens[0]',
  'tokenizer=whitespace',
  'token: string',
  'password: see chapter 3',
  'token = nextToken(3)',
  'Authorization: Bearer <token>',
  'the bearer of this letter',
  'https://example.com:8080/@user',
  'https://user@example.com/',
  'git@github.com:owner/repo.git',
  '-----BEGIN PUBLIC KEY-----',
])('finds nothing in %j', (text) => {
  expect(findSecrets(text)).toEqual([])
})

describe('findings', () => {
  test('are in text order, each kind once per line', () => {
    expect(findSecrets(`a\nhttp://u:pass@h ${KEY} ${KEY}\n\n${KEY}`)).toEqual([
      { what: 'a password in a URL', line: 2, isDoubtful: true },
      { what: 'an AWS access key', line: 2, isDoubtful: false },
      { what: 'an AWS access key', line: 4, isDoubtful: false },
    ])
  })

  test.each(['\n', '\r\n', '\r'])('have the right line number if lines end in %j', (end) => {
    expect(findSecrets(['a', 'b', KEY].join(end))).toEqual([{ what: 'an AWS access key', line: 3, isDoubtful: false }])
  })

  test('are at most twenty', () => {
    expect(findSecrets('password="abcdefghij"\n'.repeat(1000))).toHaveLength(20)
  })

  test('never contain the value', () => {
    const text = LEAKS.map(([, leak]) => leak).join('\n')
    expect(JSON.stringify(findSecrets(text))).not.toMatch(/hunter2|AKIA|a1B2|0123456789/)
  })
})

test('redacts every credential and keeps the rest', () => {
  const text = `before ${KEY} after\nsee postgres://admin:hunter2@db/x`
  expect(redactSecrets(text)).toBe('before [redacted] after\nsee [redacted]db/x')
  expect(redactSecrets(LEAKS.map(([, leak]) => leak).join('\n'))).not.toMatch(/hunter2|AKIA[A-Z]|a1B2|0123456789/)
})

test('masks the fields of addresses that are named like secrets, and no others', () => {
  const text = 'got "https://a.example/?page=2&access_token=x1&API-Key=x2#part" and ?session=x3, token=4'
  expect(maskSecretFields(text)).toBe(
    'got "https://a.example/?page=2&access_token=***&API-Key=***#part" and ?session=*** token=4',
  )
})

test.each([
  ...['.env', 'a/.env.local', '.ENV.production', '_netrc', 'home/.netrc', '.pgpass', '.git-credentials', '.npmrc'],
  ...['.pypirc', 'site/.htpasswd', '.aws/credentials', 'x/.docker/config.json', '.kube/config', '.ssh/id_ed25519'],
  ...['id_rsa', 'tls/server.key', 'server.pem', 'a.p12', 'a.pfx', 'a.jks'],
])('%s is a credential file', (path) => {
  expect(isCredentialFile(path)).toBe(true)
})

test.each([
  ...['.env.example', '.env.sample', '.env.template', '.env.dist', 'env', '.environment', 'netrc.md', 'credentials'],
  ...['config.json', 'docker/config.json', 'kube/config', 'id_rsa.pub', 'key', 'a.key.md', 'pem'],
])('%s is not a credential file', (path) => {
  expect(isCredentialFile(path)).toBe(false)
})

test.each([
  'a-'.repeat(500_000),
  'password'.repeat(100_000),
  'x'.repeat(1_000_000),
  'a:'.repeat(500_000),
  `bearer ${' '.repeat(500_000)}`,
  'token='.repeat(100_000),
])('finishes quickly on a hostile line', (text) => {
  expect(cpuMsOf(() => expect(findSecrets(text)).toEqual([]))).toBeLessThan(5000)
})
