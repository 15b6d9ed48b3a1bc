import { expect, test } from 'vitest'
import { packageTitle, parsePackageUrl, writePackageUrl } from './package-url.ts'

test.each([
  ['pkg:npm/react@18.2.0', 'pkg:npm/react@18.2.0', 'react'],
  ['npm:react', 'pkg:npm/react', 'react'],
  ['npm:react@^18', 'pkg:npm/react@%5E18', 'react'],
  ['npm:react@>=17 <19', 'pkg:npm/react@%3E%3D17%20%3C19', 'react'],
  ['npm:@types/node@next', 'pkg:npm/%40types/node@next', '@types/node'],
  ['pkg:npm/@types/node', 'pkg:npm/%40types/node', '@types/node'],
  ['pkg:npm/%40types/node@24.1.0', 'pkg:npm/%40types/node@24.1.0', '@types/node'],
  ['pypi:Flask_SQLAlchemy@3.1.1', 'pkg:pypi/flask-sqlalchemy@3.1.1', 'flask-sqlalchemy'],
  ['pypi:requests==2.0', 'pkg:pypi/requests@2.0', 'requests'],
  ['crates:serde_json', 'pkg:cargo/serde_json', 'serde_json'],
  ['cargo:serde@1.0.200', 'pkg:cargo/serde@1.0.200', 'serde'],
  ['pkg:cargo/serde@1.0.200?arch=any#src', 'pkg:cargo/serde@1.0.200', 'serde'],
  ['maven:org.slf4j:slf4j-api@2.0.9', 'pkg:maven/org.slf4j/slf4j-api@2.0.9', 'org.slf4j:slf4j-api'],
  ['maven:org.slf4j:slf4j-api:2.0.9', 'pkg:maven/org.slf4j/slf4j-api@2.0.9', 'org.slf4j:slf4j-api'],
  ['PKG:NPM/react', 'pkg:npm/react', 'react'],
  [
    'golang:github.com/BurntSushi/toml@v1.2.0',
    'pkg:golang/github.com/BurntSushi/toml@v1.2.0',
    'github.com/BurntSushi/toml',
  ],
  ['golang:go4.org@v0.1.0+incompatible', 'pkg:golang/go4.org@v0.1.0%2Bincompatible', 'go4.org'],
])('%s is parsed as %s', (text, url, title) => {
  const name = parsePackageUrl(text)
  if (name === undefined) throw new Error('expected a package')
  expect(writePackageUrl(name)).toBe(url)
  expect(packageTitle(name)).toBe(title)
  expect(parsePackageUrl(url)).toEqual(name)
  expect(new URL(url).href).toBe(url)
})

test.each([
  'react',
  'constructor:abc',
  'npm:',
  'npm://react',
  'npm:../../etc',
  'npm:a/b',
  'npm:@a/b/c',
  'npm:react@1/2',
  'pkg:npm/%2e%2e/x',
  'golang:../x',
  'pkg:golang/github.com//y',
  'pkg:golang/github.com/.x/y',
  'pypi:-x',
  'crates:se rde',
  'cargo:serde@^1',
  'maven:slf4j-api',
  'maven:org/slf4j:api',
  'https://example.com/npm:react',
  'file:///npm/react',
])('%s is not a package', (text) => {
  expect(parsePackageUrl(text)).toBeUndefined()
})
