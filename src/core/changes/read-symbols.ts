import { FenceReader } from '../markdown/fences.ts'
import { splitLines } from '../text/lines.ts'
import type { ComparedPage } from './change.ts'
import { inlineInternal } from './internal-symbols.ts'
import { readDeclarations } from './read-declarations.ts'

/** A name that a version defines. */
export interface ComparedSymbol {
  /** Module that exports it, or path of the file that defines it. */
  readonly module: string
  /** Qualified name; members have the name of their owner before theirs. */
  readonly name: string
  /** Name of the symbol that it is a member of; null for a symbol of its own. */
  readonly owner: string | null
  readonly signature: string
  readonly doc: string
  readonly path: string
  /** From 1. */
  readonly line: number
}

/** The names of a module. */
export interface ComparedModule {
  readonly name: string
  readonly path: string
  readonly symbols: ReadonlyMap<string, ComparedSymbol>
}

/** Pages that are made of type declarations. */
const API_PAGE = /\.d\.[cm]?ts\.md$/i
const API_TITLE = /^# API of (.+)$/

export function isApiPage({ path, markdown }: Pick<ComparedPage, 'path' | 'markdown'>): boolean {
  return API_PAGE.test(path) && API_TITLE.test(markdown.slice(0, markdown.indexOf('\n')))
}

/** Reads the modules of a version: from its API pages, and from the definitions of its code. */
export function readModules(pages: readonly ComparedPage[]): Map<string, ComparedModule> {
  const drafts = pages.filter(isApiPage).map(readApiPage)
  const described = new Map(drafts.map(({ name, symbols }) => [name, { symbols, members: groupMembers(symbols) }]))
  const modules = new Map<string, ComparedModule>()
  for (const { name, aliases, path, symbols, references } of drafts) {
    const all = new Map(symbols)
    for (const [label, from] of references) {
      const origin = described.get(from)
      if (all.has(label)) continue
      const unknown = { module: name, path, name: label, owner: null, line: 1, signature: '', doc: '' }
      all.set(label, origin?.symbols.get(label) ?? unknown)
      for (const member of origin?.members.get(label) ?? []) all.set(member.name, member)
    }
    // `z.object` is `object` if the module exports both.
    for (const label of [...all.keys()]) if (all.get(label)?.owner === null && all.has(restOf(label))) all.delete(label)
    for (const alias of [name, ...aliases])
      if (!modules.has(alias)) modules.set(alias, { name: alias, path, symbols: all })
  }
  const declarations = pages.filter(({ path, definitions }) => definitions !== null && DECLARATIONS.test(path))
  const declared = readDeclaredModules(declarations)
  if (drafts.length > 0) addMentioned(declared, drafts, modules)
  // `declare module` of another package adds to that package.
  const packages = new Set(drafts.map(({ name }) => packageOf(name)))
  for (const [name, module] of declared) {
    const isOwn = drafts.length === 0 || (name !== UNKNOWN_MODULE && packages.has(packageOf(name)))
    if (isOwn && !modules.has(name)) modules.set(name, module)
  }
  if (drafts.length === 0) for (const page of pages) if (!DECLARATIONS.test(page.path)) addCode(page, modules)
  return modules
}

/** The package of a module: `@a/b/c` → `@a/b`. */
export function packageOf(module: string): string {
  return module
    .split('/')
    .slice(0, module.startsWith('@') ? 2 : 1)
    .join('/')
}

const DECLARATIONS = /\.d\.[cm]?ts$/i
/** Name of the module with the declarations of a package whose modules are not known. */
export const UNKNOWN_MODULE = ''

/** Reads declarations by the module that `declare module` names; others belong to the one that stands for the package. */
function readDeclaredModules(pages: readonly ComparedPage[]): Map<string, ComparedModule> {
  const modules = new Map<string, { name: string; path: string; symbols: Map<string, ComparedSymbol> }>()
  for (const { path, markdown } of pages) {
    for (const { comment, ...declared } of readDeclarations(markdown)) {
      if (isPrivate(declared.name)) continue
      const name = declared.module ?? UNKNOWN_MODULE
      const module = modules.get(name) ?? { name, path, symbols: new Map() }
      modules.set(name, module)
      const known = module.symbols.get(declared.name)
      const signature = plainSignature(declared.signature)
      if (known === undefined)
        module.symbols.set(declared.name, { ...declared, module: name, path, signature, doc: docOf(comment) })
      // Further signatures of a function. The same declarations for another kind of modules are on another page.
      else if (known.path === path && known.signature.length < MAX_OVERLOAD_CHARS)
        module.symbols.set(declared.name, { ...known, signature: `${known.signature} ${signature}` })
    }
  }
  return modules
}

/** Signatures of a function are joined up to this length. */
const MAX_OVERLOAD_CHARS = 4000

/** The part of a doc comment that matters here, as API pages write it. */
function docOf(comment: string): string {
  const [, text] = /@deprecated\b([^@]*)/.exec(comment) ?? []
  return text === undefined ? '' : `**Deprecated.** ${text.replace(/(?<!\s)\s*\*+\/?\s*/g, ' ').trim()}`
}

/** Adds the declarations that an API page mentions without describing them; others are internal. */
function addMentioned(
  declared: ReadonlyMap<string, ComparedModule>,
  drafts: readonly ModuleDraft[],
  modules: Map<string, ComparedModule>,
): void {
  const all = [...declared.values()].flatMap(({ symbols }) => [...symbols.values()])
  if (all.length === 0) return
  const described = new Set<string>()
  for (const { symbols } of modules.values()) {
    for (const { name, signature } of symbols.values()) if (signature !== '') described.add(name)
  }
  for (const { name: module, words } of drafts) {
    const symbols = new Map(modules.get(module)?.symbols)
    for (const symbol of all) {
      const [top = ''] = symbol.name.split('.', 1)
      if (words.has(top) && !described.has(top)) symbols.set(symbol.name, { ...symbol, module })
    }
    const known = modules.get(module)
    if (known !== undefined) modules.set(module, { ...known, symbols })
  }
}

/** A name without its first qualifier; empty if it has none. */
function restOf(label: string): string {
  return label.includes('.') ? label.slice(label.indexOf('.') + 1) : ''
}

/** Members of each symbol, and theirs. */
function groupMembers(symbols: ReadonlyMap<string, ComparedSymbol>): Map<string, ComparedSymbol[]> {
  const groups = new Map<string, ComparedSymbol[]>()
  let top = ''
  for (const symbol of symbols.values()) {
    if (symbol.owner === null) top = symbol.name
    else {
      const group = groups.get(top)
      if (group === undefined) groups.set(top, [symbol])
      else group.push(symbol)
    }
  }
  return groups
}

function addCode({ path, definitions }: ComparedPage, modules: Map<string, ComparedModule>): void {
  if (definitions === null || definitions.length === 0) return
  const names = new Set(definitions.map(({ name }) => name))
  const symbols = new Map<string, ComparedSymbol>()
  for (const { name, signature, line } of definitions) {
    const dot = name.lastIndexOf('.')
    const owner = dot > 0 && names.has(name.slice(0, dot)) ? name.slice(0, dot) : null
    if (isPrivate(name)) continue
    const known = symbols.get(name)
    // A definition that was cut into several chunks begins in the first.
    if (known === undefined)
      symbols.set(name, { module: path, name, owner, signature: plainSignature(signature), doc: '', path, line })
  }
  modules.set(path, { name: path, path, symbols })
}

/** Names that begin with an underscore are internal, except `__init__` and its like. */
export function isPrivate(name: string): boolean {
  return name.split('.').some((part) => /^_(?!_\w+__$)/.test(part))
}

interface ModuleDraft {
  readonly name: string
  readonly aliases: readonly string[]
  readonly path: string
  readonly symbols: ReadonlyMap<string, ComparedSymbol>
  /** Names described elsewhere, with the module that does. */
  readonly references: ReadonlyMap<string, string>
  /** Every word of the page. */
  readonly words: ReadonlySet<string>
}

const HEADING = /^(#{2,3}) (`+)(?!`) ?(.*?) ?(?<!`)\2$/
const REFERENCES = /^(?:Also exported|As in `([^`]+)`): (.*)\.$/
const ALIASES = /^Also imported as (.*)\.$/
const SPAN = /(?<!`)(`+)(?!`) ?(.*?) ?(?<!`)\1(?!`)/g
/** An item of a member: its signature has a type, a call or a value. Items of parameters are plain names. */
const ITEM = /^- (`+)(?!`) ?(.*?) ?(?<!`)\1(?!`)(?:: (.*))?$/

/** Reads a page that `writeApiPages` wrote. */
function readApiPage({ path, markdown }: ComparedPage): ModuleDraft {
  const name = API_TITLE.exec(markdown.slice(0, markdown.indexOf('\n')))?.[1] ?? path
  const references = new Map<string, string>()
  const aliases: string[] = []
  const entries: Entry[] = []
  let entry: Entry | undefined
  const fences = new FenceReader()
  let hasSignature = false
  splitLines(markdown).forEach((text, at) => {
    const part = fences.read(text)
    const heading = part === undefined ? HEADING.exec(text) : null
    if (heading !== null) {
      entry = {
        level: heading[1]?.length ?? 2,
        label: labelOf(heading[3] ?? ''),
        line: at + 1,
        signature: [],
        doc: [],
        items: [],
      }
      entries.push(entry)
      hasSignature = false
      return
    }
    hasSignature ||= part === 'close'
    if (part === 'open' || part === 'close') return
    if (entry === undefined) readHead(text, name, references, aliases)
    else if (part === 'code' && !hasSignature) entry.signature.push(text)
    else readLine(text, at + 1, entry)
  })
  const words = new Set(markdown.match(/[A-Za-z_$][\w$]*/g) ?? [])
  return {
    name,
    aliases,
    path,
    references,
    words,
    symbols: inlineInternal(createSymbols(name, path, entries, references)),
  }
}

/** A heading of an API page with what is below it. */
interface Entry {
  readonly level: number
  readonly label: string
  readonly line: number
  readonly signature: string[]
  readonly doc: string[]
  readonly items: { readonly name: string; readonly signature: string; readonly doc: string; readonly line: number }[]
}

function readHead(text: string, module: string, references: Map<string, string>, aliases: string[]): void {
  const listed = REFERENCES.exec(text)
  for (const [, , label = ''] of listed?.[2]?.matchAll(SPAN) ?? []) references.set(label, listed?.[1] ?? module)
  for (const [, , alias = ''] of ALIASES.exec(text)?.[1]?.matchAll(SPAN) ?? []) aliases.push(alias)
}

function readLine(text: string, line: number, entry: Entry): void {
  const [, , signature = '', doc = ''] = ITEM.exec(text) ?? []
  const isEnum = entry.signature.some((one) => /\benum\b/.test(one))
  const name = signature === '' || (!isEnum && /^[\w$.[\]]+$/.test(signature)) ? '' : memberName(signature)
  if (name === '') entry.doc.push(text)
  else entry.items.push({ name, signature: plainSignature(signature), doc, line })
}

/** `z.object(shape, params?)` → `z.object`; `new Thing(a)` → `Thing.constructor`. */
function labelOf(heading: string): string {
  const [label = ''] = heading.split('(', 1)
  return label.startsWith('new ') ? `${label.slice('new '.length)}.constructor` : label
}

const MODIFIERS = /^(?:(?:public|protected|declare|static|abstract|override|readonly|async|get|set)\s+)+(?=[\w$#'"[])/

function memberName(signature: string): string {
  const [, name = ''] = /^(['"]?[\w$#-]+['"]?|\[[\w$.]+\])/.exec(signature.replace(MODIFIERS, '')) ?? []
  return name.replace(/['"]/g, '')
}

/** Symbols by name. A name within an object that has most names of the module, as in `z.object`, is known without it. */
function createSymbols(
  module: string,
  path: string,
  entries: readonly Entry[],
  references: ReadonlyMap<string, string>,
): Map<string, ComparedSymbol> {
  const symbols = new Map<string, ComparedSymbol>()
  const add = (name: string, owner: string | null, line: number, signature: string, doc: string) => {
    if (!symbols.has(name)) symbols.set(name, { module, path, name, owner, line, signature, doc })
  }
  let top = ''
  let topLabel = ''
  for (const { level, label, line, signature, doc, items } of entries) {
    if (level === 2) {
      topLabel = label
      top = references.has(restOf(label)) ? restOf(label) : label
    }
    const name =
      label === topLabel ? top : label.startsWith(`${topLabel}.`) ? top + label.slice(topLabel.length) : label
    const owner = level === 2 ? null : top
    // An interface that can be called repeats its own name.
    const key = level === 3 && name === top ? `${top}.()` : name
    add(key, owner, line, plainSignature(signature.join(' ')), doc.join('\n').trim())
    for (const item of items) add(`${name}.${item.name}`, key, item.line, item.signature, item.doc)
  }
  return symbols
}

/** A signature without differences of spelling. */
export function plainSignature(signature: string): string {
  return signature
    .replace(/\s+/g, ' ')
    .replace(/^(?:export |declare |default )+/, '')
    .replace(/"([^"'\\]*)"/g, "'$1'")
    .replace(/\( /g, '(')
    .replace(/< /g, '<')
    .replace(/, ?>/g, '>')
    .replace(/,? \)/g, ')')
    .replace(/([=:<(,]) ?\| /g, '$1 ')
    .replace(/;(?= *\})/g, '')
    .replace(/;$/, '')
    .trim()
}
