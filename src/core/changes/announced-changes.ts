import { clipText } from '../text/lines.ts'
import type { Change } from './change.ts'
import type { DocumentedNames } from './documented-names.ts'
import type { Announcement } from './read-announcements.ts'
import { type ComparedModule, packageOf } from './read-symbols.ts'

const MAX_SENTENCE_CHARS = 300
const MAX_ANNOUNCED = 500

/** The names of a version. */
export interface VersionNames {
  readonly modules: ReadonlyMap<string, ComparedModule>
  readonly documented: DocumentedNames
  /** Words in code of its changelogs. */
  readonly words: ReadonlySet<string>
}

/** What the newer version itself announces. */
export interface AnnouncedChanges {
  /** Changes that the comparison did not find: changed behaviour, and names that no declaration describes. */
  readonly changes: readonly Change[]
  /** Whether an announcement names what a change is about. */
  isAnnounced(change: Change): boolean
}

/** Finds the names that the newer version announces. `found` are the changes that the comparison found. */
export function listAnnouncedChanges(
  announcements: readonly Announcement[],
  before: VersionNames,
  after: VersionNames,
  found: readonly Change[],
): AnnouncedChanges {
  if (announcements.length === 0) return { changes: [], isAnnounced: () => false }
  const known = { old: indexNames(before), fresh: indexNames(after) }
  const { old, fresh } = known
  const reported = groupOwners(found.filter(({ kind }) => kind !== 'added').flatMap(listNames))
  const announced = groupOwners([])
  const changes: Change[] = []
  for (const { sentence, scope, path, line } of announcements) {
    for (const { name, verb, target } of findSubjects(sentence, scope, known)) {
      const { own, owner } = splitName(name)
      const isReported = [...(reported.get(own) ?? [])].some((other) => isSameOwner(owner, other))
      addOwner(announced, name)
      if (changes.length >= MAX_ANNOUNCED || isReported) continue
      addOwner(reported, name)
      changes.push({
        ...{ kind: kindOf(verb, name, fresh, target), subject: old.modules.has(name) ? 'module' : 'symbol', name },
        ...{ newName: verb === 'rename' ? target : null, path, line, isOldPage: false },
        ...{ before: null, after: null, lostNames: [], lines: [clipText(sentence, MAX_SENTENCE_CHARS)] },
      })
    }
  }
  const isAnnounced = (change: Change) =>
    listNames(change).some((name) => {
      const { own, owner } = splitName(name)
      return [...(announced.get(own) ?? [])].some((other) => isSameOwner(other, owner))
    })
  return { changes, isAnnounced }
}

/** The names that a change is about. */
function listNames({ name, lostNames }: Change): string[] {
  return [name, ...lostNames.map((lost) => `${name}.${lost}`)]
}

/** Owners by the last part of names. */
type Owners = Map<string, Set<string>>

function groupOwners(names: readonly string[]): Owners {
  const owners: Owners = new Map()
  for (const name of names) addOwner(owners, name)
  return owners
}

function addOwner(owners: Owners, name: string): void {
  const { own, owner } = splitName(name)
  owners.set(own, (owners.get(own) ?? new Set()).add(owner))
}

function splitName(name: string): { readonly own: string; readonly owner: string } {
  const parts = name.split(/[.#]/)
  return { own: parts.at(-1) ?? '', owner: (parts.at(-2) ?? '').toLowerCase() }
}

/** `reply.send` announces `FastifyReply.send`, and `send` announces it for every owner. */
function isSameOwner(announced: string, found: string): boolean {
  return found.includes(announced) || (found !== '' && announced.includes(found))
}

interface NameIndex {
  readonly modules: ReadonlySet<string>
  /** Names of the packages that the modules belong to. */
  readonly packages: ReadonlySet<string>
  /** Qualified names by their last part. */
  readonly byOwnName: ReadonlyMap<string, readonly string[]>
  /** Names of symbols that are no members, by their lower-case spelling. */
  readonly topLevel: ReadonlyMap<string, string>
  /** Names that prose defines, without their owners. */
  readonly documented: ReadonlySet<string>
  /** Words in code of all pages. */
  readonly words: ReadonlySet<string>
}

interface NameIndexes {
  readonly old: NameIndex
  readonly fresh: NameIndex
}

function indexNames({ modules, documented, words }: VersionNames): NameIndex {
  const byOwnName = new Map<string, string[]>()
  const topLevel = new Map<string, string>()
  for (const { symbols } of modules.values()) {
    for (const [name, { owner }] of symbols) {
      if (owner === null) topLevel.set(name.toLowerCase(), name)
      const own = ownName(name)
      const names = byOwnName.get(own)
      if (names === undefined) byOwnName.set(own, [name])
      else names.push(name)
    }
  }
  return {
    modules: new Set(modules.keys()),
    packages: new Set([...modules.keys()].map(packageOf)),
    byOwnName,
    topLevel,
    documented: new Set([...documented.definitions.keys()].map(ownName)),
    words: new Set([...[...documented.mentioned.values()].flatMap((page) => [...page]), ...words]),
  }
}

function ownName(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('.'), name.lastIndexOf('#')) + 1)
}

type Verb = 'remove' | 'rename' | 'deprecate' | 'change'

interface Subject {
  name: string
  readonly verb: Verb
  /** New name, if the sentence tells one. */
  target: string | null
}

const TOKEN = /(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)|[A-Za-z_$][\w$]*(?:[.#][A-Za-z_$][\w$]*)*(?:\(\))?|[,;:.()→]/g
const VERBS: readonly [RegExp, Verb][] = [
  [/^(?:remov\w+|drop\w*|delet\w+|kill\w*|gone|unexport\w*|inline\w*)$/i, 'remove'],
  [/^renam\w+$/i, 'rename'],
  [/^replac\w+$/i, 'rename'],
  [/^deprecat\w+$/i, 'deprecate'],
  [
    /^(?:chang\w+|swap\w*|rewr\w+|rework\w*|mov(?:e|ed|es|ing)|require[sd]?|mak(?:e|es)|simplif\w+|unif\w+|fix\w*)$/i,
    'change',
  ],
]
/** After these words come replacements and additions. */
const REPLACEMENT = /^(?:use|using|add\w*|introduc\w+|new|allow\w*|via|import|see|like|call(?:ing)?|→)$/i
/** Inner capital letters, underscores and dots. */
const LOOKS_LIKE_NAME = /[a-z][A-Z]|_|\w\.\w/
const WORD = /^[A-Za-z_$][\w$]*$/
/** The short id of a commit. */
const COMMIT = /^(?=[a-f]*\d)[\da-f]{6,40}$/
/** Of a function with another signature only that signature is removed. */
const SIGNATURE = /^\s*(?:signature|overload|usage|form)\b/i
const KEYWORD =
  /^(?:true|false|null|undefined|this|void|any|unknown|never|string|number|boolean|object|function|class|interface|type|import|export|require|default|const|let|async|await|new|Array|Map|Set|Promise|Error|Math|JSON|Object|Date|Buffer|Symbol|Intl|process|console|window|globalThis|node|npm)$/

/** The names that a sentence says something about, except replacements and names that only the newer version has. */
function findSubjects(sentence: string, scope: string, known: NameIndexes): Subject[] {
  const subjects: Subject[] = []
  let verb: Verb = verbOf(sentence)
  let role: 'subject' | 'owner' | 'replacement' = 'subject'
  let isAfterVerb = false
  // In `remove the default from x` only a part of x is removed.
  let isPlace = false
  let open: Subject[] = []
  for (const match of sentence.matchAll(TOKEN)) {
    const [token, mark, span] = match
    const isWord = mark === undefined
    // In `remove deprecated x` the verb is the first one.
    if (isWord && isAfterVerb && /^(?:the|and|or|deprecated|experimental|both|,)$/i.test(token)) continue
    const action = isWord ? VERBS.find(([pattern]) => pattern.test(token))?.[1] : undefined
    if (action !== undefined) {
      // `The deprecated x has been removed.`
      const isAdjective = action === 'deprecate' && verb === 'remove'
      if (!isAdjective && (subjects.length === 0 || action !== 'change')) verb = action
      role = 'subject'
      isAfterVerb = true
      isPlace = false
      open = []
      continue
    }
    if (isWord && open.length === 0 && /^(?:from|of|on|in)$/i.test(token)) isPlace = true
    if (isWord && isReplacementMark(token, sentence, open.length > 0 ? verb : 'change')) role = 'replacement'
    else if (isWord && token === 'of' && /instead of/i.test(sentence) && role === 'replacement') role = 'subject'
    else if (isWord && role === 'subject' && open.length > 0 && /^(?:from|of|on|in|for)$/i.test(token)) role = 'owner'
    const name = nameIn(span ?? token)
    if (name === '' || (isWord && !isPlainName(name, scope, known, isAfterVerb || role === 'replacement'))) {
      isAfterVerb = false
      // An owner follows at once: `the retries option of the `get` method`.
      if (role === 'owner' && !/^(?:from|of|on|in|for|the|a|an)$/i.test(token)) role = 'subject'
      continue
    }
    if (role === 'replacement') for (const one of open) one.target ??= name
    else if (role === 'owner') {
      if (!name.includes('/') && (isDefined(name, known.old) || isDefined(name, known.fresh)))
        for (const one of open) if (!/[./]/.test(one.name)) one.name = `${name}.${one.name}`
    } else if (isSubject(name, isAfterVerb ? 'named' : isPlace ? 'change' : verb, known)) {
      const isSignature = SIGNATURE.test(sentence.slice(match.index + token.length))
      const own = isPlace || isSignature ? 'change' : verb
      const subject: Subject = { name: qualify(name, scope, known), verb: own, target: null }
      subjects.push(subject)
      open.push(subject)
      continue
    }
    open = []
    role = role === 'owner' ? 'subject' : role
  }
  return subjects.length === 0 ? findScope(scope, known) : subjects
}

/** The scope of an entry whose sentence names nothing else, if it is a name of the older version: `**audit:** the notifier must emit`. */
function findScope(scope: string, { old }: NameIndexes): Subject[] {
  const name = old.topLevel.get(scope)
  return name === undefined ? [] : [{ name, verb: 'change', target: null }]
}

/**
 * A name that the older version defines counts. Others count if the sentence tells their end or names them right after its verb, unless only
 * the newer version has them.
 */
function isSubject(name: string, verb: Verb | 'named', { old, fresh }: NameIndexes): boolean {
  if (KEYWORD.test(name) || COMMIT.test(name)) return false
  if (name.includes('/')) return old.modules.has(name) || (verb !== 'change' && old.packages.has(packageOf(name)))
  if (isDefined(name, old)) return true
  if (/^[A-Z][A-Z\d_]*$/.test(name)) return false
  const isMentioned = old.words.has(ownName(name))
  if (verb === 'change') return isMentioned && LOOKS_LIKE_NAME.test(name)
  return isMentioned || !isDefined(name, fresh)
}

function isReplacementMark(token: string, sentence: string, verb: Verb): boolean {
  if (REPLACEMENT.test(token)) return true
  if (/^(?:instead|favou?r)$/i.test(token)) return !/instead of/i.test(sentence)
  return verb === 'rename' && /^(?:to|with|by|into|as)$/i.test(token)
}

function verbOf(sentence: string): Verb {
  const words = sentence.replace(/`[^`]*`/g, '')
  const isRemoval = /\bno longer (?:exist|export|expos|support|includ|availab|need|part)|\bremov\w+|\bdropped\b/i.test(
    words,
  )
  if (isRemoval) return 'remove'
  return /\bdeprecat/i.test(words) ? 'deprecate' : 'change'
}

/** The name that a code span or a word is: `client.get(key)` → `client.get`; empty if it is none. */
function nameIn(text: string): string {
  const [, name = ''] =
    /^(?:new\s+)?\.?((?:@[\w-]+\/)?[\w$./#-]*?|@[\w$.]+)(?:<.*>)?(?:\(.*\))?$/s.exec(text.trim()) ?? []
  if (name.includes('/')) return name.replace(/\/$/, '')
  const plain = name
    .replace(/^@/, '')
    .replace(/#/g, '.')
    .replace(/^(?:this|prototype)\./, '')
    .replace('.prototype.', '.')
  const isName = plain.split('.').every((part) => WORD.test(part)) && /[A-Za-z]{2}/.test(plain)
  const isFile = !text.includes('(') && /\.(?:md|[cm]?[jt]sx?|json|html?|css|ya?ml)$/.test(plain)
  return isName && !isFile ? plain : ''
}

/** Whether a word outside of code is a name: it looks like one and follows a verb, or a symbol has it, or its scope does. */
function isPlainName(name: string, scope: string, known: NameIndexes, isExpected: boolean): boolean {
  if (LOOKS_LIKE_NAME.test(name)) return isExpected || isDefined(name, known.old)
  return name.length > 1 && findInScope(name, scope, known) !== undefined
}

/** The symbol of that name whose owner is named after the scope. */
function findInScope(name: string, scope: string, { old, fresh }: NameIndexes): string | undefined {
  if (scope === '') return undefined
  const names = [...(old.byOwnName.get(name) ?? []), ...(fresh.byOwnName.get(name) ?? [])]
  return names.find((one) =>
    one
      .slice(0, -name.length - 1)
      .toLowerCase()
      .includes(scope),
  )
}

function qualify(name: string, scope: string, known: NameIndexes): string {
  return (name.includes('.') ? undefined : findInScope(name, scope, known)) ?? name
}

/** Whether a symbol or a definition in prose has this name, whatever its owner is. */
function isDefined(name: string, { byOwnName, documented }: NameIndex): boolean {
  const own = ownName(name)
  return byOwnName.has(own) || documented.has(own)
}

/** A name that the newer version still has is changed, whatever the sentence says of its parts. */
function kindOf(verb: Verb, name: string, { modules, byOwnName }: NameIndex, target: string | null): Change['kind'] {
  if (verb === 'deprecate') return 'deprecated'
  if (verb === 'rename' && target !== null) return 'renamed'
  const others = byOwnName.get(ownName(name)) ?? []
  const isKept = modules.has(name) || others.some((one) => one === name || one.endsWith(`.${name}`))
  return verb === 'remove' && !isKept ? 'removed' : 'changed'
}
