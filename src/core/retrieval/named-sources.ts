import { isStopWord } from '../text/stop-words.ts'

/** Name and version of a source. */
export interface NamedSource {
  readonly name: string
  readonly version: string | null
}

/** A question without the names of sources that it mentions, and these sources. */
export interface SourceMention<S> {
  readonly query: string
  readonly sources: readonly S[]
}

/** Maximum number of words in one name: `Vue Router` is the source `vue-router`. */
const MAX_NAME_WORDS = 3

/** A shorter name counts as a common word, unless it is written with a capital: `Go`. */
const MIN_LOWERCASE_NAME_CHARS = 3

/** A prefix counts as the whole name if it is this long and lacks at most two characters: `postgres` is `postgresql`. */
const MIN_PREFIX_CHARS = 6
const MAX_MISSING_CHARS = 2

/** A word that matches more names than this is a shared word: `plugin` is not the name of twenty plugins. */
const MAX_NAME_MATCHES = 5

/** Endings of source names that people leave out: `apache2`, `nodejs`, `git-docs`. */
const NAME_END = /(?:[\s._-]*(?:\.?js|docs?|documentation|manual|reference|handbook)|[\s._-]*v?\d[\d.]*)$/i

const SCOPE = /^@[^/]+\//

const VERSION = /^v?(\d+(?:\.\d+)*)(?:\.x)?$/i

/** A word of a question, without surrounding punctuation; flags, variables and parts of paths do not count. */
const WORD = /(?<![-./$_\p{L}\p{N}])[\p{L}\p{N}@](?:[\p{L}\p{N}.+#@/_-]*[\p{L}\p{N}+#])?/gu

/** A word of a question with its position. */
interface Word {
  readonly text: string
  readonly start: number
  readonly end: number
}

const QUOTED = /"[^"\n]*"|“[^“”\n]*”|`[^`\n]*`/g

/** Words before the name of a tool: `in django`, `with react`. */
const BEFORE_TOOL = /^(?:in|with|using|on)$/i

/**
 * Finds the sources that a question mentions by name, with or without a version: `vite 5 proxy` asks the source `vite` for `proxy`. An
 * ordinary word counts only if it is written as a name. A question that is only a name keeps its words.
 */
export function findNamedSources<S extends NamedSource>(
  query: string,
  sources: readonly S[],
  ordinaryWords: ReadonlySet<string> = NO_WORDS,
): SourceMention<S> {
  const words = listWords(query)
  const byKey = groupByKey(sources, ordinaryWords)
  const named = new Set<S>()
  const dropped = new Set<number>()
  for (let i = 0; i < words.length; i++) {
    for (let count = Math.min(MAX_NAME_WORDS, words.length - i); count > 0; count--) {
      const written = words.slice(i, i + count).map(({ text }) => text)
      const matches = findSources(byKey, written.join(' '))
      if (matches.length === 0) continue
      const version = VERSION.exec(words[i + count]?.text ?? '')?.[1]
      const versions = version === undefined ? [] : matches.filter((source) => isVersion(source, version))
      const isOrdinary = count === 1 && ordinaryWords.has(fold(written.join(' ')))
      if (isOrdinary && versions.length === 0 && !isWrittenAsName(query, words, i)) continue
      for (const source of versions.length > 0 ? versions : matches) named.add(source)
      const last = i + count + (versions.length > 0 ? 1 : 0)
      for (; i < last; i++) dropped.add(i)
      i--
      break
    }
  }
  const rest = words.filter((_, i) => !dropped.has(i))
  if (named.size === 0 || rest.every(({ text }) => isStopWord(text.toLowerCase())))
    return { query, sources: [...named] }
  return {
    query: removeRanges(
      query,
      words.filter((_, i) => dropped.has(i)),
    ),
    sources: [...named],
  }
}

const NO_WORDS: ReadonlySet<string> = new Set()

/** The words of a question, without quoted ones, which are literal. */
function listWords(query: string): Word[] {
  const quoted = [...query.matchAll(QUOTED)].map(({ 0: text, index }) => [index, index + text.length] as const)
  return [...query.matchAll(WORD)].flatMap(({ 0: text, index: start }) => {
    const isQuoted = quoted.some(([from, to]) => start >= from && start < to)
    return isQuoted ? [] : [{ text, start, end: start + text.length }]
  })
}

/** Whether an ordinary word is used as a name: after `in` or `with`, with a capital, or first and followed by the topic. */
function isWrittenAsName(query: string, words: readonly Word[], i: number): boolean {
  const { text = '', start = 0 } = words[i] ?? {}
  if (BEFORE_TOOL.test(words[i - 1]?.text ?? '')) return true
  const isFirst = i === 0 || /[.!?:]\s*$/.test(query.slice(0, start))
  if (!isFirst) return text !== text.toLowerCase()
  const next = words[i + 1]?.text.toLowerCase()
  return next !== undefined && !isStopWord(next)
}

/** Sources by the ways in which their names are written. */
function groupByKey<S extends NamedSource>(
  sources: readonly S[],
  ordinaryWords: ReadonlySet<string>,
): ReadonlyMap<string, readonly S[]> {
  const groups = new Map<string, S[]>()
  for (const source of sources) {
    const bare = source.name.replace(SCOPE, '')
    const keys = [source.name, bare, bare.replace(NAME_END, '')].map(fold)
    const beginnings = keys.flatMap(listPrefixes).filter((key) => !ordinaryWords.has(key))
    for (const key of new Set([...keys, ...beginnings])) {
      if (key === '' || isStopWord(key)) continue
      const group = groups.get(key) ?? []
      groups.set(key, group)
      group.push(source)
    }
  }
  return groups
}

function listPrefixes(key: string): string[] {
  const lengths = Array.from({ length: MAX_MISSING_CHARS }, (_, i) => key.length - i - 1)
  return lengths
    .filter((length) => length >= MIN_PREFIX_CHARS && !/\p{N}/u.test(key.slice(length)))
    .map((length) => key.slice(0, length))
}

/** The sources that a name matches. */
function findSources<S extends NamedSource>(byKey: ReadonlyMap<string, readonly S[]>, written: string): readonly S[] {
  const key = fold(written)
  if (key.length < MIN_LOWERCASE_NAME_CHARS && written === written.toLowerCase()) return []
  const matches = byKey.get(key) ?? []
  return new Set(matches.map(({ name }) => name)).size > MAX_NAME_MATCHES ? [] : matches
}

function isVersion({ version }: NamedSource, requested: string): boolean {
  const sourceVersion = version?.replace(/^v/i, '') ?? ''
  return sourceVersion === requested || sourceVersion.startsWith(`${requested}.`)
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}+#]+/gu, '')
}

function removeRanges(query: string, ranges: readonly { readonly start: number; readonly end: number }[]): string {
  let at = 0
  const kept = ranges.map(({ start, end }) => {
    const before = query.slice(at, start)
    at = end
    return before
  })
  return [...kept, query.slice(at)].join('').replace(/ {2,}/g, ' ').trim()
}
