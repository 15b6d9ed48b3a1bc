import { expect, test } from 'vitest'
import { writeContentSecurityPolicy, writePolicySource } from './content-security-policy.ts'

test('a policy names a folder by its URL, or `self` if it cannot name the host', () => {
  const sources = {
    'http://127.0.0.1:41000/local/': 'http://127.0.0.1:41000/local/',
    'http://localhost:41000/local/': 'http://localhost:41000/local/',
    'https://Docs.Example/a/b/': 'https://docs.example/a/b/',
    'https://docs.example/a;b,c/': 'https://docs.example/a%3Bb%2Cc/',
    "https://docs.example/'unsafe-eval' x/": "https://docs.example/'unsafe-eval'%20x/",
    'http://[::1]:41000/local/': "'self'",
    'http://192.168.1.5:41000/local/': "'self'",
    'http://docs.example.:41000/local/': "'self'",
    'http://localhost:99999/local/': "'self'",
    'http://a b/local/': "'self'",
  }
  for (const [folder, source] of Object.entries(sources)) {
    expect([folder, writePolicySource(folder)]).toEqual([folder, source])
  }
})

test('the policy allows loading and connecting only from and to the given folder', () => {
  expect(writeContentSecurityPolicy('http://localhost/local/').split('; ')).toEqual([
    "default-src 'none'",
    "script-src http://localhost/local/ 'wasm-unsafe-eval'",
    'worker-src http://localhost/local/',
    'style-src http://localhost/local/',
    'img-src http://localhost/local/ blob:',
    'connect-src http://localhost/local/',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ])
})
