import { compareUtf8 } from '../text/order.ts'
import { dropSlash } from './key.ts'
import { splitDisplay } from './query.ts'

/**
 * Folds keys that most servers answer with the same page into one: the trailing slash, the index file and display query keys are dropped.
 */
export function foldKey(key: string): string {
  return dropSlash(partsOf(key).bare)
}

/** The differences between two keys with the same fold: `slash at the end`, `index file`, or the names of keys of the query. */
export function listDifferences(a: string, b: string): string[] {
  const [one, other] = [partsOf(a), partsOf(b)]
  const names = new Set([...one.displayPairs.keys(), ...other.displayPairs.keys()])
  const differing = [...names].filter((name) => one.displayPairs.get(name) !== other.displayPairs.get(name))
  const differences = [
    ...(one.bare === other.bare ? [] : ['slash at the end']),
    ...(one.index === other.index ? [] : ['index file']),
    ...differing.sort(compareUtf8),
  ]
  return differences.length === 0 ? ['order of the query'] : differences
}

interface KeyParts {
  /** The key without index file and display query keys. */
  readonly bare: string
  readonly index: string
  readonly displayPairs: ReadonlyMap<string, string>
}

function partsOf(key: string): KeyParts {
  const query = key.indexOf('?')
  const address = query < 0 ? key : key.slice(0, query)
  const { kept, displayPairs } = query < 0 ? NO_QUERY : splitDisplay(key.slice(query))
  const index = INDEX_FILE.exec(address)?.[1] ?? ''
  return { bare: address.slice(0, address.length - index.length) + kept, index, displayPairs }
}

const NO_QUERY = { kept: '', displayPairs: new Map<string, string>() } as const

/** Files that servers send for a folder. */
const INDEX_FILE = /\/((?:index|default)\.(?:[xs]?html?|php|aspx?|jsp))$/i
