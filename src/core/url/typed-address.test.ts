import { describe, expect, test } from 'vitest'
import { ADDRESS_WITHOUT_SCHEME, completeAddress, TYPED_ADDRESS } from './typed-address.ts'

describe('typed address', () => {
  test.each([
    'https://docs.example/guide',
    'git+https://code.example/a/b',
    'file:///folder/file.md',
    'git@code.example:owner/name',
    'docs.example/guide',
    'docs.example:8080/',
    '/folder/file.md',
    'pkg:npm/react',
    'npm:@scope/name@1',
    'pypi:requests',
    'crates:serde',
    'cargo:serde',
    'maven:group:artifact',
    'golang:code.example/name',
  ])('%s is an address', (text) => {
    expect(TYPED_ADDRESS.test(text)).toBe(true)
  })

  test.each([
    'std::vector',
    'node:fs',
    'error:ENOENT',
    'std::vector<int>::push_back',
    'npm: how to install',
    'fs.readFile',
    'and/or',
    'trim the wick',
    '/',
  ])('%s is words', (text) => {
    expect(TYPED_ADDRESS.test(text)).toBe(false)
  })

  test('only an address that begins with its host lacks a scheme', () => {
    expect(ADDRESS_WITHOUT_SCHEME.test('docs.example:8080/guide')).toBe(true)
    expect(ADDRESS_WITHOUT_SCHEME.test('https://docs.example/guide')).toBe(false)
    expect(ADDRESS_WITHOUT_SCHEME.test('npm:react')).toBe(false)
  })

  test('an address without its scheme gets https, on this machine http', () => {
    expect(completeAddress('docs.example/guide')).toBe('https://docs.example/guide')
    expect(completeAddress('127.0.0.1:8080/guide')).toBe('http://127.0.0.1:8080/guide')
    expect(completeAddress('localhost:3000/a')).toBe('http://localhost:3000/a')
    expect(completeAddress('localhost.example/a')).toBe('https://localhost.example/a')
    expect(completeAddress('npm:react')).toBe('npm:react')
    expect(TYPED_ADDRESS.test('localhost:3000/a')).toBe(true)
  })
})
