import { describe, expect, it } from 'vitest'
import { findNamedSources } from './named-sources.ts'

const source = (name: string, version: string | null = null) => ({ name, version })
const SOURCES = [
  source('vite'),
  source('vue-router', '4.2.0'),
  source('postgresql', '15.3'),
  source('postgresql', '16.1'),
  source('apache2'),
  source('nodejs-docs'),
  source('@tanstack/react-query'),
  source('go'),
]

const find = (query: string) => {
  const { query: rest, sources } = findNamedSources(query, SOURCES)
  return [rest, sources.map(({ name, version }) => (version === null ? name : `${name}@${version}`))]
}

const ORDINARY = new Set(['request', 'requests', 'react', 'node', 'command', 'python', 'go', 'html', 'django'])
const PLAIN = ['requests', 'react', 'node.js', 'commander', 'python', 'django', 'html'].map((name) => source(name))
const findPlain = (query: string) => findNamedSources(query, PLAIN, ORDINARY).sources.map(({ name }) => name)

describe('findNamedSources', () => {
  it.each([
    ['vite proxy websocket', 'proxy websocket', ['vite']],
    ["Vite's dev server: change the port?", "'s dev server: change the port?", ['vite']],
    ['guards in Vue Router', 'guards in', ['vue-router@4.2.0']],
    ['invalidate with react-query after a mutation', 'invalidate with after a mutation', ['@tanstack/react-query']],
    ['apache hides errors', 'hides errors', ['apache2']],
    ['read a file with node.js', 'read a file with', ['nodejs-docs']],
    ['closures in Go', 'closures in', ['go']],
  ])('removes the name from %j', (query, rest, named) => {
    expect(find(query)).toEqual([rest, named])
  })

  it('finds all versions of a name, or those that match the version after it', () => {
    expect(find('vacuum in Postgres')).toEqual(['vacuum in', ['postgresql@15.3', 'postgresql@16.1']])
    expect(find('postgresql 16 vacuum settings')).toEqual(['vacuum settings', ['postgresql@16.1']])
    expect(find('postgres 9 vacuum')).toEqual(['9 vacuum', ['postgresql@15.3', 'postgresql@16.1']])
  })

  it.each([
    ['how to read a request header in django', ['django']],
    ['python read a csv file', ['python']],
    ['why does React render twice', ['react']],
    ['python 3.11 dataclass', ['python']],
    ['exec command as user', []],
    ['add a node to a cluster', []],
    ['react to a change of state', []],
    ['limit the number of requests per user', []],
    ['render markdown to html', []],
  ])('treats an ordinary word as a name only if it is written as one: %j', (query, named) => {
    expect(findPlain(query)).toEqual(named)
  })

  it('ignores quoted words', () => {
    expect(find('"vite config" file')).toEqual(['"vite config" file', []])
  })

  it('keeps a question that is only a name', () => {
    expect(find('vite')).toEqual(['vite', ['vite']])
    expect(find('what is vite?')).toEqual(['what is vite?', ['vite']])
  })

  it.each(['where did my commits go', 'edit vite.config.ts', 'run --vite', 'invitees of a meeting'])(
    'finds no name in %j',
    (query) => {
      expect(find(query)).toEqual([query, []])
    },
  )

  it('finds one name among those of a thousand sources, in a question of 20,000 characters', () => {
    const many = Array.from({ length: 1000 }, (_, i) => source(`package-${i}-tools`))
    const query = 'how do I wire package-7-tools to the server '.repeat(450)
    expect(findNamedSources(query, many).sources).toEqual([many[7]])
  })

  it('ignores a word that many sources share, and tells names with different numbers apart', () => {
    const many = Array.from({ length: 20 }, (_, i) => source(`plugin-${i}`))
    expect(findNamedSources('write a plugin', many).sources).toEqual([])
    expect(findNamedSources('settings of plugin-1', many).sources).toEqual([many[1]])
  })
})
